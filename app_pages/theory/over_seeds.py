"""Measuring seed by seed while somebody looks: a bar where there is something to wait for, figures as they grow."""

from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.show.show import Redrawn
from app_pages.toolkit.stoppable import progress, say_stopped, stopped_at
from viz.builders.figure import VegaFigure

REDRAW_AFTER = 1.0  # seconds

Measured = TypeVar("Measured")


class BesideItsWords:
    """A figure and what is to be said of it, side by side, or below each other in a narrow window.

    Both can be drawn anew while numbers come in; what stands there from the run before stays until they first are.
    """

    def __init__(self, key: str) -> None:
        with st.container(horizontal=True, gap="medium"):
            with st.container(key=f"figure_{key}"):
                self._figure = Redrawn(f"theory_{key}")
            self._words = st.container(key=f"words_{key}")

    def draw(self, figure: VegaFigure, words: str, *, done: bool) -> None:
        self._figure.draw(figure, done=done)
        self._words = self._words.markdown(words)


def progress_of_seeds() -> DeltaGenerator:
    """An empty place for a bar, at the right, above what follows: it takes no room and so moves nothing."""
    with st.container(key="progress_of_seeds"):
        return st.empty()


def over_seeds(
    variants: Sequence[str],
    n_seeds: int,
    *,
    measure: Callable[[str, int], Measured],
    draw: Callable[[dict[str, list[Measured]], bool], None],
    text: str,
    what: Hashable,
    bar: DeltaGenerator,
) -> None:
    """Calls `measure(variant, seed)`, and `draw` with what there is by variant, each with the same seeds, and whether that is all.

    `bar` is an empty place in which a line beginning with `text` says how many are done. Where the reader stopped this, the
    seeds that were done for all variants are drawn: `measure` is cached. `what` is as in `stoppable`.
    """
    n_all = n_seeds * len(variants)
    if (share := stopped_at(what)) is not None:
        say_stopped(text, what, bar)
        _measure(variants, round(share * n_all) // len(variants), measure, draw, lambda _: None)
        return
    with progress(text, what, bar) as move:
        _measure(variants, n_seeds, measure, draw, lambda n: move(n / n_all, f"{text}: {n} of {n_all}"))


def _measure(
    variants: Sequence[str],
    n_seeds: int,
    measure: Callable[[str, int], Measured],
    draw: Callable[[dict[str, list[Measured]], bool], None],
    tell: Callable[[int], None],
) -> None:
    found: dict[str, list[Measured]] = {variant: [] for variant in variants}
    drawn = -REDRAW_AFTER
    for seed in range(n_seeds):
        for number, variant in enumerate(variants, start=seed * len(variants)):
            tell(number)
            found[variant].append(measure(variant, seed))
        if seed == n_seeds - 1 or monotonic() - drawn > REDRAW_AFTER:
            draw(found, seed == n_seeds - 1)
            drawn = monotonic()
