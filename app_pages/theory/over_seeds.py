"""Measurements that run seed by seed under a progress bar, with figures that are redrawn as results come in."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from time import monotonic
from typing import TypeVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.show.show import Redrawn
from app_pages.toolkit.expression import Expression
from app_pages.toolkit.markdown import counted
from app_pages.toolkit.stoppable import progress, say_stopped, stopped_share

REDRAW_AFTER = 1.0  # seconds

Result = TypeVar("Result")


class FigureWithText:
    """A figure with a text next to it, or below it in a narrow window.

    Both can be redrawn within a run; the previous run's version stays visible until the first drawing.
    """

    def __init__(self, key: str) -> None:
        with st.container(horizontal=True, gap="medium", key=f"figure_and_words_{key}"):
            with st.container(key=f"figure_{key}"):
                self._figure = Redrawn(f"theory_{key}")
            self._words = st.container(key=f"words_{key}")

    def draw(self, figure: Expression, words: str, *, done: bool) -> None:
        self._figure.draw(figure, done=done)
        self._words = self._words.markdown(words)


def spread_sentence(by_variant: Mapping[str, np.ndarray]) -> str:
    """Sentence on what lines and bands are, of numbers [seed, ...] for each variant."""
    n_seeds = len(next(iter(by_variant.values())))
    return f"Line: mean over {counted(n_seeds, 'seed')}; band: from the least to the largest."


def create_progress_container() -> DeltaGenerator:
    """Creates an empty container for the progress bar, outside the page's layout, so that nothing moves when the bar appears."""
    with st.container(key="progress_of_seeds"):
        return st.empty()


def measure_over_seeds(
    variants: Sequence[str],
    n_seeds: int,
    *,
    measure: Callable[[str, int], Result],
    draw: Callable[[dict[str, list[Result]], bool], None],
    text: str,
    what: Hashable,
    bar: DeltaGenerator,
) -> None:
    """Calls `measure(variant, seed)` for all variants and seeds and, from time to time, `draw(results, done)` with the results by
    variant and whether they are complete.

    `bar` is an empty container for the progress bar, whose label begins with `text`. If the user stopped this work, the seeds
    finished for all variants are drawn from the cache of `measure`. `what` identifies the work, as in `stoppable`.
    """
    n_all = n_seeds * len(variants)
    if (share := stopped_share(what)) is not None:
        say_stopped(text, what, bar)
        _measure(variants, round(share * n_all) // len(variants), measure, draw, lambda _: None)
        return
    with progress(text, what, bar) as move:
        _measure(variants, n_seeds, measure, draw, lambda n: move(n / n_all, f"{text}: {n} of {n_all}"))


def _measure(
    variants: Sequence[str],
    n_seeds: int,
    measure: Callable[[str, int], Result],
    draw: Callable[[dict[str, list[Result]], bool], None],
    tell: Callable[[int], None],
) -> None:
    results: dict[str, list[Result]] = {variant: [] for variant in variants}
    last_drawn = -REDRAW_AFTER
    for seed in range(n_seeds):
        for n_done, variant in enumerate(variants, start=seed * len(variants)):
            tell(n_done)
            results[variant].append(measure(variant, seed))
        if seed == n_seeds - 1 or monotonic() - last_drawn > REDRAW_AFTER:
            draw(results, seed == n_seeds - 1)
            last_drawn = monotonic()
