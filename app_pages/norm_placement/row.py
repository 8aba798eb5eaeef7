"""One claim: what it says and who said so, what is measured here, the verdict, and a link to the live figure."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app_pages.widgets.show import show
from model.history import standard_error
from model.theory.claims.declared import Claim
from model.theory.claims.stored import Measurement
from model.theory.claims.verdict import Outcome, apart, spread
from viz.norm_placement.seed_strip import Line, seed_strip
from viz.numbers import percent, written

WIDTHS = (3.2, 5, 2.8)  # claim, figure, verdict


def row(claim: Claim, measured: Sequence[Measurement]) -> None:
    about = claim.of(measured)
    said, figure, verdict = st.columns(WIDTHS, gap="medium")
    with said:
        st.markdown(claim.says, help=claim.measured)
        st.caption(claim.by or "Our own question; we know of no paper that claims it.")
    with figure:
        if about:
            lines = [Line(_label(each), each.seeds, each.pre, each.post, each.across) for each in about]
            reference = getattr(claim.rule, "than", None)
            draw = partial(seed_strip, lines, title=claim.says, log=claim.log, reference=reference)
            show(draw(), key=f"claim_{claim.key}", in_file=partial(draw, axis=claim.figure))
        else:
            st.caption("Not measured: there were no such encoders.")
    with verdict:
        st.markdown(f"**{_capital(claim.verdict(measured))}**")
        if about:
            st.caption(_examples(claim, about))
        page, keys = claim.link
        st.page_link(
            f"app_pages/{page}/page.py", label="figure", icon=":material/arrow_forward:", icon_position="right",
            query_params=keys,
        )  # fmt: skip


def _label(measured: Measurement) -> str:
    seeds, between = spread(measured), written(apart(measured), ".2g")
    if measured.across is not None:
        said = f"{between} across"
        return f"{measured.where}: {said}" + (f", seeds up to {written(seeds, '.2g')} apart" if seeds else "")
    said = f"{measured.where}: {between} apart"
    return said + (", one seed" if seeds is None else f", seeds up to {written(seeds, '.2g')} apart")


def _examples(claim: Claim, about: Sequence[Measurement]) -> str:
    """On how many examples and seeds, and how many of the measurements have enough seeds to count."""
    told = dict.fromkeys(f"{each.n:,} {each.of}, {_seeds(len(each.seeds))}" for each in about)
    few = sum(claim.outcome(each) is Outcome.TOO_FEW for each in about)
    without = f" Not counted (too few seeds): {few} of {len(about)}." if few else ""
    return f"{'; '.join(told)}.{without}{_errors(claim, about)}"


def _errors(claim: Claim, about: Sequence[Measurement]) -> str:
    """Of shares that are right: how far chance in the choice of examples takes each."""
    if claim.figure != "accuracy":
        return ""
    largest = max(standard_error(share, each.n) for each in about for share in (*each.pre, *each.post))
    return f" Standard error of each: up to {percent(largest)}."


def _seeds(n: int) -> str:
    return "1 seed" if n == 1 else f"{n} seeds"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
