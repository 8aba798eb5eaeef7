"""Work in steps, with a bar where it takes longer than a glance."""

import time
from collections.abc import Callable, Sequence
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
