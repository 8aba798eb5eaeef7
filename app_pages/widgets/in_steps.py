"""Work in steps, with a bar where it takes longer than a glance."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import streamlit as st

GLANCE = 0.4  # seconds; what is cached takes less, and a bar would only flicker

Result = TypeVar("Result")


def in_steps(steps: Sequence[Callable[[], Result]], text: str) -> list[Result]:
    """What each step returns; `text` stands over the bar."""
    bar, start, results = st.empty(), time.monotonic(), []
    for number, step in enumerate(steps, 1):
        results.append(step())
        if time.monotonic() - start > GLANCE:
            bar.progress(number / len(steps), text)
    bar.empty()
    return results


def as_they_come(parts: Iterable[Result], share: Callable[[Result], float], text: str) -> Iterator[Result]:
    """The `parts` of something, one after the other, with a bar that moves on by each one's `share` of the whole."""
    bar, start, done = st.empty(), time.monotonic(), 0.0
    for part in parts:
        yield part
        done += share(part)
        if time.monotonic() - start > GLANCE:
            bar.progress(min(done, 1.0), text)
    bar.empty()
