"""The pairing of heads: which head of the second side is compared with each head of the first."""

from dataclasses import replace

import numpy as np
import streamlit as st

from app_pages.compare.stored_comparisons import stored_comparison
from app_pages.controls.compare_controls import BY_NUMBER, ON_INPUT, PAIRING
from app_pages.controls.head_choice import HeadChoice, take_head
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.head_name import head_names
from app_pages.subject.stored_results import examples_phrase
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side, distances_by_words
from app_pages.toolkit.expression import Expression, call, named
from model.atlas.results import EncoderComparison
from model.lenses import Lens
from model.measures import head_matching
from model.measures.head_matching import HeadIndex, Pairing
from model.measures.word_view import distributions
from model.record import ForwardRecord
from viz.builders.number_format import head_name, percent

MOST_WEIGHTS = 2e10  # of all pairs of maps that are compared: about two minutes; 1,370 patches and 144 heads have twice as many
LISTED = 8  # heads by name; of 144, most may be without a partner


def pair_heads(first: Side, second: Side) -> Pairing:
    """Draws the control for how heads are paired (by number or by smallest distance), where there is a choice; returns the pairs.

    Heads of the same number are paired within one encoder, and where distances are not measured (`why_not_measured`).
    """
    shapes = _layers_and_heads(first), _layers_and_heads(second)
    if why_not_measured(first, second) is not None:
        return head_matching.pair_by_index(*shapes)
    if first.words is not None and second.words is not None:
        matrix = distances_by_words(first.subject, second.subject, (first.words, second.words))
    else:
        matrix = _head_distances(first.subject, second.subject)
    if first.checkpoint == second.checkpoint:
        return head_matching.pair_by_index(*shapes, matrix)
    stored = stored_comparison(first.checkpoint, second.checkpoint)
    over_many = [f"alike over {stored.source.n:,} examples"] if stored else []
    method = PAIRING.choose((*over_many, ON_INPUT, BY_NUMBER))
    if method == BY_NUMBER:
        return head_matching.pair_by_index(*shapes, matrix)
    if stored is None or method == ON_INPUT:
        return head_matching.pair_by_distance(*shapes, matrix)
    return replace(stored.pairing, matrix=matrix, n_examples=stored.source.n)


def pair_layers(first: Side, second: Side) -> Pairing:
    """Pairs layers of the same number, for a lens without heads, in which each layer counts as one head."""
    return head_matching.pair_by_index((_layers_and_heads(first)[0], 1), (_layers_and_heads(second)[0], 1))


def _layers_and_heads(side: Side) -> tuple[int, int]:
    """Numbers of layers and of heads per layer."""
    n_layers, n_heads, *_ = side.record.pattern.shape
    return n_layers, n_heads


def pairing_expression(first: Side, second: Side, pairing: Pairing) -> Expression:
    """The pairs of heads and the distances between them, as an expression."""
    records = [as_python.record(side.subject) for side in (first, second)]
    patterns = [source.pattern for source in records]
    if first.words is not None and second.words is not None:
        words = first.words, second.words
        merged = [call(of_side.merge, source).pattern for of_side, source in zip(words, records, strict=True)]
        shared = named("shared", call(distributions, *merged, words))
        patterns = [shared[0], shared[1]]
    matrix = None
    if pairing.matrix is not None:
        distances = call(head_matching.distance_matrix, *patterns)
        matrix = named("distances", distances, lambda: pairing.matrix)
    options = {"partners": pairing.partners, "matched": pairing.matched, "n_examples": pairing.n_examples}
    pairs = call(Pairing, shapes=pairing.shapes, matrix=matrix, **options)
    return named("pairing", pairs, lambda: pairing)


@cached(spinner="Measuring head distances …")
def _head_distances(first: LiveSubject, second: LiveSubject) -> np.ndarray:
    return head_matching.distance_matrix(first.record.pattern, second.record.pattern)


def why_not_measured(first: Side, second: Side) -> str | None:
    """Sentence on why the distances of the heads are not measured; None if they are."""
    if why_cells_differ(first, second) is not None:
        return (
            "Head distances compare rows of weights over the same keys, and these sides have none in common."
        )
    n_pairs = int(np.prod(_layers_and_heads(first) + _layers_and_heads(second)))
    if n_pairs * len(first.record) ** 2 > MOST_WEIGHTS:
        return (
            f"Head distances are not measured for so long an input: {n_pairs:,} pairs of heads with {len(first.record):,} × "
            f"{len(first.record):,} weights each would take minutes."
        )
    return None


def why_cells_differ(first: Side, second: Side) -> str | None:
    """Sentence on why the same cell [query, key] of the two maps does not mean the same pair of words; None if it does."""
    first_record, second_record = first.record, second.record
    if (
        first.words is not None
        or first_record.tokens == second_record.tokens
        or (first.checkpoint == second.checkpoint and len(first_record) == len(second_record))
    ):
        return None
    if first_record.unit == "patch":
        reason = f"{first.title} sees {_patches_text(first_record)}, {second.title} sees {_patches_text(second_record)}"
    elif len(first_record) == len(second_record):
        reason = f"{first.title} and {second.title} cut the text into different tokens"
    else:
        reason = f"{first.title} has {len(first_record)} tokens, {second.title} {len(second_record)}"
    return f"The two maps have no cells in common: {reason}."


def _patches_text(record: ForwardRecord) -> str:
    assert record.patch_grid is not None, record.unit
    patches = "{} × {} patches".format(*record.patch_grid)
    return f"{patches} and a class token" if record.positions_with_role("class") else patches


def map_name(head: HeadIndex, lens: Lens) -> str:
    """Name of a map such as "L0 H3", or "L0" for a lens without heads."""
    return head_name(*head) if lens.has_heads else f"L{head[0]}"


def choose_furthest_pair(pairing: Pairing) -> None:
    """Draws a button that chooses the pair of heads with the largest distance; draws nothing if no distances were
    measured.
    """
    if pairing.matrix is not None:
        st.button(
            "Most different pair",
            key="most_different",
            on_click=take_head,
            args=pairing.furthest_head,
            help="The pair with the largest head distance on this input.",
        )


def say_pair(first: Side, second: Side, pairing: Pairing, chosen: HeadChoice) -> None:
    """Writes which head, or layer, is compared with the chosen one, how the two were paired, and their distance; a tooltip
    explains the distance and the rules of the heads' roles.
    """
    head, lens = (chosen.layer, chosen.head), chosen.lens
    partner, is_measured = pairing.partner(head), pairing.matrix is not None
    stored = stored_comparison(first.checkpoint, second.checkpoint) if is_measured else None
    if partner is None:
        st.markdown(f"**{map_name(head, lens)}** has no partner in {second.title}.", width="content")
        return
    text = f"{'Paired: ' * pairing.matched}**{map_name(head, lens)}** ↔ **{map_name(partner, lens)}**"
    if not lens.has_heads:
        st.markdown(f"{text} :gray[one map a layer, paired by number]", width="content")
        return
    if is_measured:
        text += f" · {pairing.distances[head]:.3f} apart (max 0.69)"
    rules = [head_names(side.subject, *index).rules for side, index in ((first, head), (second, partner))]
    explained = [
        *(f"{rule}." for rule in dict.fromkeys("; ".join(rules).split("; ")) if rule),
        *([_distance_sentence(pairing, head, stored)] if is_measured else []),
        *([_matching_sentences(pairing, stored)] if pairing.matched else []),
    ]
    st.markdown(text, width="content", help="\n\n".join(explained) or None)


def warn_of_pairs(first: Side, second: Side, pairing: Pairing, lens: Lens) -> None:
    """Writes, where heads were paired by their number, that such pairs need not do the same; and which heads have no partner."""
    if not lens.has_heads:
        return
    if not pairing.matched and first.checkpoint != second.checkpoint:
        reason = "" if pairing.matrix is not None else f" {why_not_measured(first, second)}"
        st.warning(
            "Paired by number: the encoders were trained separately, so heads of the same number need not "
            f"correspond.{reason}",
            icon=":material/warning:",
        )
    for side, unpaired in zip((first, second), pairing.unpaired, strict=True):
        if unpaired:
            names = ", ".join(head_name(*index) for index in unpaired[:LISTED])
            rest = f", … ({len(unpaired)} heads)" if len(unpaired) > LISTED else ""
            st.caption(f"Without a partner in {side.title}: {names}{rest}.")


def _distance_sentence(pairing: Pairing, head: HeadIndex, stored: EncoderComparison | None) -> str:
    text = "Their distance, in nats, is 0 where both maps are the same and 0.69 where they have no key in common. "
    text += f"Further apart: {pairing.n_further_pairs(head)} of {pairing.n_pairs} pairs."
    if stored is not None:
        head_index = np.ravel_multi_index(head, pairing.shapes[0])
        index = head_index, pairing.partners[head_index]
        mean, sd = stored.distances.mean[index], stored.distances.sd[index]
        text += (
            f" Over {examples_phrase(stored.source)} it is {mean:.3f} ± {sd:.3f} (mean ± standard deviation)."
        )
    return text


def _matching_sentences(pairing: Pairing, stored: EncoderComparison | None) -> str:
    text = (
        "Two encoders number their heads in any order, so each head stands beside one whose maps look like its own: "
        "these pairs have the smallest sum of distances"
    )
    if stored is None or pairing.n_examples == 1:
        text += " on this input; on another one they may be others."
    else:
        text += (
            f", on average over {examples_phrase(stored.source)}. Two halves of these, each paired alone, give the same partner to "
            f"{stored.halves} of {pairing.n_pairs} heads."
        )
    if stored is not None:
        share = percent(stored.persisting_share)
        text += f" Paired on a single example, {share} of them have the partner that they have over all, on average."
    return f"{text} Pairs of the same number on both sides: {pairing.n_same_index} of {pairing.n_pairs}."
