"""Positions: how an encoder knows where a token is, in the theory of position encodings and in the opened encoder."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app_pages.controls import positions_controls as controls
from app_pages.controls.control_bar import Slots, bar
from app_pages.controls.map_controls import HEAD
from app_pages.controls.positions_controls import OWN_KIND
from app_pages.inputs.row import choose_input
from app_pages.positions.bias_by_distance import draw_bias
from app_pages.positions.checkpoint import draw_checkpoint_positions
from app_pages.positions.embedding_map import draw_embedding_map
from app_pages.positions.experiments import draw_experiment
from app_pages.positions.notation import format_scientific
from app_pages.positions.rotated_scores import choose_pair, draw_rotated_scores
from app_pages.positions.sinusoids import draw_sinusoids
from app_pages.positions.windows import draw_windows
from app_pages.show.show import clickable, show
from app_pages.subject import cache
from app_pages.subject.as_python import computed
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call, named
from app_pages.toolkit.gestures import slider_moves
from model.experiments.position_kinds import MAPS, PositionTerms, map_sizes, position_kinds, position_terms
from model.parts.relative_bias import last_bucket_from
from model.theory import relative_positions as theory
from viz.builders.number_format import format_number, head_name, percent
from viz.positions.bias_figures import distance_curves, score_curves
from viz.positions.position_curves import map_shares
from viz.positions.sinusoid_figures import MOST_CLOCKS, clock_hands

NAMES = {name: name.replace("_", " ") for name in MAPS}

FURTHEST = 160  # positions, beyond the distance from which T5's offsets share a bucket
NEAR = 40  # positions, within which the fastest pair's waves can still be seen
PAIRS = (0, 4, 8, 16)  # of a rotated head, as curves
SHOWN = 4  # curves of heads
MOVED = (0, 10, 100, 400)  # where the query of one pair of words stands
WIDTH = 64  # of a head
_OFFSETS = named("offsets", call(np.arange, -FURTHEST, FURTHEST + 1))


def draw() -> None:
    part = controls.PART.choose()
    if part == controls.SINUSOIDS:
        draw_sinusoids()
    elif part == controls.BY_DISTANCE:
        draw_by_distance()
    else:
        parts = {
            controls.ENCODER: draw_this_encoder,
            controls.EXPERIMENTS: draw_experiment,
            controls.EMBEDDINGS: draw_embedding_map,
        }
        parts[part](*choose_input(with_answer=False))


def draw_by_distance() -> None:
    """Draws the chosen relative position encoding as curves over the distance of query and key, with formula and source."""
    row, _ = bar("controls")
    with row:
        kind = controls.RELATIVE_KIND.choose()
        draw = {
            controls.ROTATED: _draw_rotated,
            controls.ALIBI: _draw_alibi,
            controls.T5: _draw_buckets,
            controls.WINDOWED: _draw_windows,
        }[kind]
    draw(row)


def _draw_rotated(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        base = controls.ROTARY_BASE.choose()
        t = controls.ROTATED_POSITION.choose()
        offset = controls.OFFSET.choose()
    frequencies = theory.rotary_frequencies(WIDTH, float(base))
    st.markdown(
        "**How can a score depend on the distance alone? By rotation (RoPE):** query and key are cut into pairs of numbers. Each pair is a "
        f"clock hand, turned by the word's position, a full turn in λ positions ({MOST_CLOCKS} of {len(frequencies)} are drawn). The score "
        f"follows the angle between the hands of query (faint, at position *t*) and key (bold, {offset} later). Move *t*: both turn, the angle stays."
    )
    lengths = 2 * np.pi / frequencies
    moving = clock_hands(
        frequencies * offset, lengths, before=0 * frequencies, counted="pair", per_step=frequencies
    ).following("t", slider_moves(controls.ROTATED_POSITION.key, "positions_rotated_clocks", t))
    speeds = call(theory.rotary_frequencies, WIDTH, float(base))
    at_t = call(
        clock_hands,
        call(np.multiply, speeds, t + offset),
        call(np.divide, 2 * np.pi, speeds),
        before=call(np.multiply, speeds, t),
        counted="pair",
    )
    show(moving, key="positions_rotated_clocks", in_file=at_t)
    st.markdown(
        "**What a pair adds to the score, by the distance:** most where both hands agree. Pair 0 turns fast and tells near words apart; "
        "the slow pairs hardly change, so that what they hold counts far away as well."
    )
    near = named("near", call(np.arange, -NEAR, NEAR + 1))
    by_pair = call(theory.rotary_score, near, WIDTH, float(base))
    shown = {f"pair {pair}, λ {lengths[pair]:.3g}": by_pair[pair] for pair in PAIRS}
    show(call(distance_curves, near, shown, what="cosine of the angle"), key="positions_rotated")
    st.markdown("Turning both hands and comparing them is the same as turning one of them by the difference:")
    st.latex(r"(R_t\, q) \cdot (R_s\, k) = q \cdot R_{s-t}\, k, \qquad \omega_i = \text{base}^{-2i/d_k}")
    scores = theory.moved_scores(MOVED, offset, WIDTH, float(base))
    cells = " | ".join(format_number(score, ".4f") for score in scores)
    st.markdown(
        f"**The same pair of words, {offset} apart, moved along the text: the score stays.**\n\n"
        f"| query at position | {' | '.join(map(str, MOVED))} |\n|---|{'---|' * len(MOVED)}\n| score q·k | {cells} |\n\n"
        f"Largest difference: ${format_scientific(float(np.ptp(scores)))}$, which is rounding. So a shift of all positions "
        "changes nothing here; with added positions it does."
    )
    st.caption(
        f"Su et al. 2021, equations 15 and 16; q and k are vectors of {WIDTH} ones, so each pair adds twice the cosine to q·k. A larger base "
        "turns all but the first pair more slowly."
    )


def _draw_alibi(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        n_heads = controls.BIASED_HEADS.choose()
    slopes = theory.alibi_slopes(n_heads)
    st.markdown(
        "**By a penalty (ALiBi): the further away a word, the more is taken from its score**, the distance times a number *m* that each "
        "head has of its own. Nothing is learned: a head with a large *m* looks near, heads with a small slope look far."
    )
    heads = np.unique(np.linspace(0, n_heads - 1, SHOWN).round().astype(int)).tolist()
    slopes_expression = call(theory.alibi_slopes, n_heads)
    penalties = call(np.negative, call(np.abs, _OFFSETS))
    shown = {
        f"head {head}: m = {slopes[head]:.3g}": call(np.multiply, slopes_expression[head], penalties)
        for head in heads
    }
    show(call(distance_curves, _OFFSETS, shown, what="added to the score"), key="positions_alibi")
    st.markdown("The score of query $t$ and key $s$ is their product, less the penalty:")
    st.latex(r"\text{score}_{ts} = q_t \cdot k_s / \sqrt{d_k} - m_h\, |t - s|, \qquad m_h = 2^{-8(h+1)/n}")
    st.caption(
        "Press et al. 2022, section 3, for decoders, where keys are never later; with the distance to both sides it "
        "is the encoder's form. Heads h are counted from 0 here, from 1 in the paper. A shift of all positions changes nothing."
    )


def _draw_buckets(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        n_buckets = controls.BUCKETS.choose()
    st.markdown(
        "**By a learned table (T5): each head learns what to add at which distance**, a number for each of "
        f"{n_buckets} buckets of distances. Which bucket is for which distance? Near ones have buckets of their own; far ones share, a "
        "level stretch of the line."
    )
    buckets = call(theory.t5_buckets, FURTHEST, n_buckets)
    show(
        call(distance_curves, _OFFSETS, {"bucket": buckets}, what="number of the bucket"),
        key="positions_buckets",
    )
    st.markdown(
        "The score of query $t$ and key $s$ is their product, plus what head $h$ has learned for the bucket of their distance:"
    )
    st.latex(r"\text{score}_{ts} = q_t \cdot k_s + b_h[\text{bucket}(s - t)]")
    st.caption(
        f"Raffel et al. 2020, section 2.1: half of the buckets are for later keys; keys {last_bucket_from(n_buckets, theory.FURTHEST)} or more positions away share the "
        "last one of their side. T5 does not divide by √d_k; MPNet, which has the same buckets, does."
    )


def _draw_windows(row: st.delta_generator.DeltaGenerator) -> None:
    with row:
        radius, every = controls.RADIUS.choose(), controls.GLOBAL_EVERY.choose()
    n_layers = 12
    st.markdown(
        f"**By a window: a token sees keys at most {radius} positions away.** What it has read, others read from it in the next layer: layer "
        "by layer information travels on, as far as the windows add up. A layer that sees everything ends the wait."
    )
    rows = [
        f"| L{layer} | {'all' if every and layer % every == 0 else f'±{radius}'} | "
        f"{f'±{reached:,.0f}' if np.isfinite(reached) else 'everything'} |"
        for layer, reached in enumerate(theory.reach(n_layers, radius, every))
    ]
    st.markdown(
        "| layer | sees positions | after it, a token can hold information from |\n|---|---|---|\n"
        + "\n".join(rows)
    )
    st.caption(
        "A window alone says how far, not where: shuffled inside a window, the words look the same to it. ModernBERT "
        "(Warner et al. 2024) therefore rotates as well; of its layers every third, from the first, sees everything."
    )


def draw_this_encoder(subject: LiveSubject, slots: Slots) -> None:
    """Draws the figures on the opened encoder's position encoding, with buttons to choose one if it has several."""
    kinds = cache.of(position_kinds, subject.checkpoint)
    if not kinds:
        st.info(f"`{subject.checkpoint}` has no positions: to it, every order is the same.")
        return
    kind: str = kinds[0]
    if len(kinds) > 1:
        with slots.controls:
            kind = OWN_KIND.choose(kinds)
    draw = {
        "added": draw_checkpoint_positions,
        "rotated": draw_rotated_scores,
        "biased": draw_bias,
        "windowed": draw_windows,
        "causal": draw_windows,
        "disentangled": _draw_terms,
    }[kind]
    draw(subject, slots)


# Disentangled attention: the terms of a score over the distance, and how large its maps are


def _draw_terms(subject: LiveSubject, slots: Slots) -> None:
    """Draws the terms of the chosen disentangled score over the distance, and each term's share in the scores of every head."""
    pair = choose_pair(subject, slots)
    terms: PositionTerms = subject.compute(position_terms, pair.head, pair.query, pair.key)
    source = computed(subject, position_terms, pair.head, pair.query, pair.key)
    curves = {NAMES[name]: getattr(source, name) for name in MAPS if getattr(terms, name) is not None}
    # The content adds the same at every offset.
    curves[NAMES["content_to_content"]] = call(np.full, len(terms.offsets), source.content_to_content)
    st.markdown(
        f"**{pair.name}**: contents held fixed, the distance varied. At their own offset, "
        f"{format_number(terms.own_offset, '+d')}, the score is **{format_number(terms.at_own_offset, '.3f')}**: the thick line, the sum of "
        f"{len(curves)} terms."
    )
    figure = call(score_curves, source.offsets, curves, source.total, own_offset=terms.own_offset)
    with st.container(horizontal=True, gap="medium", key="beside_terms_curves"):
        with st.container(key="side_terms_curves"):
            show(figure, key="positions_own_terms")
        with st.container(key="side_terms_shares"):
            sizes: dict[str, np.ndarray] = subject.compute(map_sizes, pair.chosen.layer)
            named = {NAMES[name]: values for name, values in sizes.items()}
            total = sum(values[pair.chosen.head] for values in named.values())
            shares = ", ".join(
                f"{name} **{percent(float(values[pair.chosen.head] / total), 0)}**"
                for name, values in named.items()
            )
            st.markdown(
                f"**Share of each map in the scores of this input**, {head_name(*pair.head)}: {shares}."
            )
            clickable(
                call(
                    map_shares,
                    {NAMES[name]: computed(subject, map_sizes, pair.chosen.layer)[name] for name in sizes},
                    head=pair.chosen.head,
                ),
                key="positions_own_shares",
                chosen=pair.chosen.head,
                selection="head",
                take=lambda point: HEAD.take(int(point["head"])),
            )
            st.caption("Mean size of a map over all queries and keys, as a share of the sum over the maps.")
    st.latex(score_formula(list(curves)))
    st.caption(
        "He et al. 2021, section 3.1: each relative position δ has a vector, projected to a query and to a key as contents are. "
        "Far offsets share vectors, so the curves end in steps or level off. Their equation 4 has δ(s, t) in the last term; their "
        "code, and so every trained encoder, has δ(t, s)."
    )


def score_formula(names: Sequence[str]) -> str:
    """LaTeX of the score of query t and key s, from the `names` of its terms."""
    products = {
        "content_to_content": r"q_t \cdot k_s",
        "content_to_position": r"q_t \cdot k_{\delta(t,s)}",
        "position_to_content": r"q_{\delta(t,s)} \cdot k_s",
    }
    terms = [products[name] for name in MAPS if NAMES[name] in names]
    divisor = rf"\sqrt{{{len(terms)} \, d_k}}" if len(terms) > 1 else r"\sqrt{d_k}"
    return rf"\text{{score}}_{{ts}} = \left( {' + '.join(terms)} \right) / {divisor}"
