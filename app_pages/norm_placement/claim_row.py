"""One claim in a row: the claim, the measured effect of the norm placement, the verdict, and a link; its values open below it."""

from collections.abc import Sequence

import streamlit as st

from app_pages.controls.norm_placement_controls import VALUES
from app_pages.controls.pages import read_link
from app_pages.show.show import show
from app_pages.show.verdicts import verdict_html, verdict_lines
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import counted
from model.claims.catalogue import Claim, effects_of_claim
from model.claims.verdict import Beyond, FurtherThanSeeds, Measurement
from viz.builders.number_format import percent, standard_error
from viz.norm_placement.seed_effects import Bound, EffectDot, SeedLine, effect_strip, seed_strip

_TEXT = {"kind": "Text", "checkpoint": "sentences-pre-ln-seed0"}
_PAIR = _TEXT | {"compare_with": "sentences-post-ln-seed0"}
_AT_START = {"theory_part": "Before training"}
_AS_TRAINED = _AT_START | {"theory_start": "Xavier", "theory_ff": "4 d"}
# By the key of a claim: the page that shows what it is about, and the options in its address.
LINKS: dict[str, tuple[str, dict[str, str]]] = {
    "last_depth": ("theory", _AT_START | {"figure": "theory_last"}),
    "last": ("theory", _AS_TRAINED | {"figure": "theory_last"}),
    "whole": ("training", {"training": "Training history", "figure": "shown_history_gradient_norm"} | _TEXT),
    "toward_output": ("theory", _AS_TRAINED | {"figure": "theory_by_layer"}),
    "early_update": (
        "theory",
        {
            "theory_part": "First steps",
            "theory_start": "Xavier",
            "theory_ff": "4 d",
            "theory_depth": "18",
            "theory_seeds": "3",
            "figure": "theory_updates",
        },
    ),
    "warm_up": ("theory", {"theory_part": "First steps", "figure": "theory_stored_runs"}),
    "warm_up_gain": ("theory", {"theory_part": "First steps", "figure": "theory_stored_runs"}),
    "rate": ("theory", {"theory_part": "First steps", "figure": "theory_stored_runs"}),
    "speed": ("training", {"training": "Training history", "figure": "shown_history_loss"} | _TEXT),
    "stream": ("compare", _PAIR | {"compare_part": "Stream", "figure": "shown_stream_mean"}),
    "branches": (
        "compare",
        _PAIR | {"compare_part": "Stream", "compare_stream": "shares", "figure": "shown_stream_shares"},
    ),
    "early_parts": (
        "compare",
        _PAIR
        | {"compare_part": "Stream", "compare_stream": "answer by part", "figure": "shown_answer_parts"},
    ),
    "early_layers": (
        "training",
        {
            "training": "Recording",
            "training_curves": "gradient norms",
            "kind": "Digit",
            "figure": "shown_curves",
        },
    ),
    "entropy": ("attention", _TEXT | {"figure": "all_heads"}),
    "roles": (
        "compare",
        _PAIR | {"compare_part": "Heads", "compare_view": "distances of all heads", "figure": "distances"},
    ),
    "accuracy": ("compare", _PAIR),
}
WIDTHS = (4.4, 4.2, 2.1, 2.3)  # claim, effect, verdict, values and link


def effect_dots(claim: Claim, measured: Sequence[Measurement]) -> list[EffectDot]:
    """A dot with the measured effect for each kind of encoder for which the claim's effect can be computed."""
    effects = [
        (result.judgement.measured, result.effect)
        for result in effects_of_claim(claim, claim.judgements(measured))
    ]
    return [EffectDot(kind.where, len(kind.seeds), *effect) for kind, effect in effects]


def draw_row(claim: Claim, measured: Sequence[Measurement], *, end: float) -> None:
    """Draws a claim in the page's four columns and, if opened, its values below. The axis of the effect reaches from -`end` to
    `end`.
    """
    with st.container(key=f"claim_row_{claim.key}", gap=None):
        words, effect, verdict, more = st.columns(WIDTHS, gap="small", vertical_alignment="center")
        with words:
            own = "" if claim.by else " Our own question."
            st.markdown(f"{claim.says} :small[:gray[({claim.axis.partition(' (')[0]}){own}]]")
        with effect:
            if dots := effect_dots(claim, measured):
                bound = None
                if isinstance(claim.rule, Beyond):
                    bound = Bound(f"{claim.rule.placement}-LN", claim.rule.than)
                show(effect_strip(dots, end=end, title=claim.says, bound=bound), key=None)
            else:
                st.caption(no_effect_sentence(claim, measured))
        with verdict:
            st.html(verdict_html(claim.judgements(measured)))
        with more, st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            is_open = VALUES[claim.key].choose()
            page, query = read_link(*LINKS[claim.key])
            st.page_link(page.script, label=f"{page.title} →", query_params=query)
        if is_open:
            _draw_values(claim, measured)


def no_effect_sentence(claim: Claim, measured: Sequence[Measurement]) -> str:
    """Sentence on why no effect of the placement can be drawn for this claim."""
    if not claim.measurements(measured):
        return "Not measured: there were no such encoders."
    if isinstance(claim.rule, FurtherThanSeeds):
        return "No dot: this compares encoders with each other, not values of pre-LN with those of post-LN."
    return "No dot: too few seeds, seeds that do not differ, or post-LN only guesses."


def _draw_values(claim: Claim, measured: Sequence[Measurement]) -> None:
    """Draws the definition and source of the claim, all measured values by seed, and the verdict for each kind of encoder."""
    about = claim.measurements(measured)
    with st.container(key=f"claim_values_{claim.key}", border=True):
        figure, verdict = st.columns((5, 4), gap="medium")
        with figure:
            if about:
                _draw_strip(claim, about)
            else:
                st.caption("Not measured: there were no such encoders.")
        with verdict:
            st.markdown(claim.by or "Our own question; we know of no paper that claims it.")
            st.markdown(claim.measured)
            if isinstance(claim.rule, Beyond):
                placement = f"{claim.rule.placement}-LN"
                st.markdown(
                    f"The verdict compares {placement} with the dashed value, not with the other placement."
                )
            st.markdown(verdict_lines(claim.judgements(measured), claim.rule))
            if about:
                st.caption(_examples_sentence(claim, about))


def _draw_strip(claim: Claim, about: Sequence[Measurement]) -> None:
    lines = [
        SeedLine(
            f"{measurement.where}, {counted(len(measurement.seeds), 'seed')}",
            measurement.seeds,
            measurement.pre,
            measurement.post,
            measurement.across,
        )
        for measurement in about
    ]
    reference = getattr(claim.rule, "than", None)
    figure = call(seed_strip, lines, title=claim.says, axis=claim.axis, log=claim.log, reference=reference)
    show(figure, key=f"claim_{claim.key}")


def _examples_sentence(claim: Claim, about: Sequence[Measurement]) -> str:
    """Sentence on the number of examples behind each value and, for accuracies, the largest standard error."""
    kinds = dict.fromkeys(f"{measurement.n:,} {measurement.of}" for measurement in about)
    text = f"Each value: {' or '.join(kinds)}."
    if claim.figure != "accuracy":
        return text
    largest = max(
        standard_error(share, measurement.n)
        for measurement in about
        for share in (*measurement.pre, *measurement.post)
    )
    return f"{text} Standard error: up to {percent(largest)}."
