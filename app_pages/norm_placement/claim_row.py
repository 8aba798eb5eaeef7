"""One claim: what it says and who said so, the measurements, the verdict, and a link to the live figure."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app_pages.controls.pages import read_link
from app_pages.show.show import show
from app_pages.show.verdicts import verdict_lines
from app_pages.toolkit.markdown import counted
from model.checkpoint.training_history import standard_error
from model.claims.catalogue import Claim
from model.claims.measurements import Measurement
from viz.builders.number_format import percent
from viz.norm_placement.seed_strip import SeedLine, seed_strip

WIDTHS = (3.2, 5, 3.2)  # claim, figure, verdict


def draw_row(claim: Claim, measured: Sequence[Measurement]) -> None:
    """Draws a claim, its figure and its verdict in the three columns of the page."""
    about = claim.measurements(measured)
    words, figure, verdict = st.columns(WIDTHS, gap="medium")
    with words:
        st.markdown(claim.says, help=claim.measured)
        st.caption(claim.by or "Our own question; we know of no paper that claims it.")
    with figure:
        if about:
            _draw_strip(claim, about)
        else:
            st.caption("Not measured: there were no such encoders.")
    with verdict:
        st.markdown(verdict_lines(claim.judgements(measured), claim.rule))
        if about:
            st.caption(_examples(claim, about))
        page, query = read_link(*claim.link)
        st.page_link(
            page.script,
            label=f"See it in {page.title}",
            icon=":material/arrow_forward:",
            icon_position="right",
            query_params=query,
        )


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
    figure = partial(seed_strip, lines, title=claim.says, axis=claim.axis, log=claim.log, reference=reference)
    show(figure(), key=f"claim_{claim.key}", in_file=partial(figure, legend=True))


def _examples(claim: Claim, about: Sequence[Measurement]) -> str:
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
