"""Work of many forward passes: done at once if it is estimated to take half a second at most, else when a button is pressed."""

from collections.abc import Hashable
from dataclasses import replace
from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from app_pages.subject.subject import LiveSubject
from app_pages.toolkit import stoppable
from model.config import ModelConfig
from model.theory.cost import n_multiply_adds

# Multiply-adds that are done in about half a second: on one core 9 to 40 · 10⁹ a second were measured, by encoder.
AT_ONCE = 5e9
A_SECOND = 1e10


class Wanted(NamedTuple):
    """Whether the user has already requested the work by another control, and the container for the button that starts it (by
    default the current one).
    """

    is_requested: bool = False
    button: DeltaGenerator | None = None


NOT_YET = Wanted()


def is_wanted(
    subject: LiveSubject,
    work_key: Hashable,
    n_forwards: int,
    label: str,
    key: str,
    *,
    other_forwards: int = 0,
    wanted: Wanted = NOT_YET,
) -> bool:
    """Whether to do now the work `work_key`, which takes `n_forwards` forward passes of the subject: it is short, was requested
    (`wanted`), was done before, or the button `label` drawn here is pressed.

    Short means at most half a second, `other_forwards` of related work included. The work itself belongs inside
    `app_pages.toolkit.stoppable.until_done(work_key)`.
    """
    per_forward = multiply_adds(subject.loaded.config, len(subject.record))
    is_short = wanted.is_requested or (n_forwards + other_forwards) * per_forward <= AT_ONCE
    label = f"{label}, {duration(n_forwards * per_forward)}"
    return stoppable.is_wanted(work_key, label, key, is_short=is_short, container=wanted.button)


def multiply_adds(config: ModelConfig, n: int) -> int:
    """Number of multiply-adds of one forward pass with `n` positions."""
    return n_multiply_adds(replace(config, n_positions=n) if config.is_text else config)


def duration(n: int) -> str:
    """Rough time that `n` multiply-adds take, such as "about 3 s"."""
    seconds = n / A_SECOND
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {round(seconds / 3600)} h"
