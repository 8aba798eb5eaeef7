"""One claim in a row: the claim, what was measured, the verdict, and a link; its numbers open below it."""

from collections.abc import Sequence
from statistics import fmean
from urllib.parse import parse_qsl

import streamlit as st

from app_pages.controls.norm_placement_controls import VALUES
from app_pages.controls.pages import read_link
from app_pages.show.show import show
from app_pages.show.verdicts import verdict_html, verdict_lines
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import counted, table
from model.claims.catalogue import Claim
from model.claims.verdict import Beyond, ClaimOutcome, Judgement, Measurement
from viz.builders.number_format import format_number, percent, standard_error
from viz.norm_placement.seed_strip import ACROSS, SeedLine, seed_strip

_ENCODERS = "kind=Text&checkpoint=sentences-pre-ln-seed0"
_COMPARED = f"compare?{_ENCODERS}&compare_with=sentences-post-ln-seed0"
_STREAM = f"{_COMPARED}&compare_part=Stream"
_AS_TRAINED = "theory?theory_part=Before training&theory_start=Xavier&theory_ff=4 d"
_STORED_RUNS = "theory?theory_part=First steps&figure=theory_stored_runs"
# By the key of a claim: the address that shows what it is about.
_ADDRESSES = {
    "last_depth": "theory?theory_part=Before training&figure=theory_last",
    "last": f"{_AS_TRAINED}&figure=theory_last",
    "whole": f"training?training=Training history&figure=shown_history_gradient_norm&{_ENCODERS}",
    "toward_output": f"{_AS_TRAINED}&figure=theory_by_layer",
    "early_update": "theory?theory_part=First steps&theory_start=Xavier&theory_ff=4 d&theory_depth=18&theory_seeds=3&figure=theory_updates",
    "warm_up": _STORED_RUNS,
    "warm_up_gain": _STORED_RUNS,
    "rate": _STORED_RUNS,
    "speed": f"training?training=Training history&figure=shown_history_loss&{_ENCODERS}",
    "stream": f"{_STREAM}&figure=shown_stream_mean",
    "branches": f"{_STREAM}&compare_stream=shares&figure=shown_stream_shares",
    "early_parts": f"{_STREAM}&compare_stream=answer by part&figure=shown_answer_parts",
    "early_layers": "training?training=Recording&training_curves=gradient norms&kind=Digit&figure=shown_curves",
    "entropy": f"attention?{_ENCODERS}&figure=all_heads",
    "roles": f"{_COMPARED}&compare_part=Heads&compare_view=distances of all heads&figure=distances",
    "accuracy": _COMPARED,
}
WIDTHS = (3.6, 5.4, 2.3, 1.8)  # claim, what was measured, verdict, numbers and link


def link_of(key: str) -> tuple[str, dict[str, str]]:
    """Name of the page that shows what the claim `key` is about, and the options in its address."""
    page, _, query = _ADDRESSES[key].partition("?")
    return page, dict(parse_qsl(query))


def draw_row(claim: Claim, measured: Sequence[Measurement]) -> None:
    """Draws a claim in the page's four columns and, if opened, its definition and all its numbers below."""
    judgements = claim.judgements(measured)
    with st.container(key=f"claim_row_{claim.key}", gap=None):
        words, values, verdict, more = st.columns(WIDTHS, gap="small", vertical_alignment="center")
        with more:
            is_open = VALUES[claim.key].choose()
            page, query = read_link(*link_of(claim.key))
            st.page_link(page.script, label=f"{page.title} →", query_params=query)
        words.markdown(f"{claim.says} :small[:gray[{claim.by or 'Our own question.'}]]")
        verdict.html(verdict_html(judgements))
        with values:
            # unopened, only what the verdict rests on
            shown = [
                judgement.measured
                for judgement in judgements
                if is_open or judgement.outcome not in (ClaimOutcome.TOO_FEW, ClaimOutcome.LEFT_OUT)
            ]
            if shown:
                _draw_strip(claim, shown, is_open=is_open)
            else:
                st.caption(
                    "No verdict: open the numbers."
                    if judgements
                    else "Not measured: there were no such encoders."
                )
        if is_open:
            _draw_numbers(claim, judgements)


def _draw_strip(claim: Claim, shown: Sequence[Measurement], *, is_open: bool) -> None:
    lines = [
        SeedLine(
            f"{measurement.where}, {counted(len(measurement.seeds), 'seed')}",
            measurement.seeds,
            measurement.pre,
            measurement.post,
            measurement.across,
        )
        for measurement in shown
    ]
    figure = call(
        seed_strip,
        lines,
        title=claim.says,
        axis=claim.axis,
        log=claim.log,
        reference=getattr(claim.rule, "than", None),
        has_legend=is_open,
    )
    show(figure, key=f"claim_{claim.key}" if is_open else None)


def _draw_numbers(claim: Claim, judgements: Sequence[Judgement]) -> None:
    """Draws how the claim was measured, the verdict for each kind of encoder, and a table of the values."""
    with st.container(key=f"claim_values_{claim.key}", border=True):
        words, numbers = st.columns(2, gap="medium")
        with words:
            st.markdown(claim.measured)
            if isinstance(claim.rule, Beyond):
                placement = f"{claim.rule.placement}-LN"
                st.markdown(
                    f"The verdict compares {placement} with the dashed value, not with the other placement."
                )
            st.markdown(verdict_lines(judgements, claim.rule))
        if judgements:
            about = [judgement.measured for judgement in judgements]
            numbers.markdown(values_table(about))
            numbers.caption(_examples_sentence(claim, about))


def values_table(measured: Sequence[Measurement]) -> str:
    """Markdown table with number of seeds, mean, smallest and largest value of both placements for each kind of encoder; where
    encoders are compared, also those of a pre-LN with a post-LN encoder.
    """
    titles = ["mean (over the seeds)", "seeds", "pre-LN", "post-LN"]
    rows = [
        [
            measurement.where,
            str(len(measurement.seeds)),
            _over_seeds(measurement.pre),
            _over_seeds(measurement.post),
        ]
        for measurement in measured
    ]
    if any(measurement.across is not None for measurement in measured):
        titles.append(ACROSS)
        for row, measurement in zip(rows, measured, strict=True):
            row.append(_over_seeds(measurement.across or ()))
    return table(titles, rows)


def _over_seeds(values: Sequence[float]) -> str:
    if not values:
        return "–"
    mean, least, largest = (
        format_number(value, "#.3g") for value in (fmean(values), min(values), max(values))
    )
    return f"**{mean}**" if len(values) == 1 else f"**{mean}** ({least} to {largest})"


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
