"""Long work under a progress bar, with a button that stops it.

A click on Stop ends the run of the page at the next step of the bar. The page then says how much of the work is done and offers
to continue; steps whose results are cached are not computed again. Work that is estimated to take more than half a second can
wait for a button, see `is_wanted`. Each piece of work is identified by `work_key`, a hashable value.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitDuplicateElementKey

from app_pages.toolkit.callbacks import callback
from viz.builders.number_format import format_number

SECONDS_BEFORE_BAR = 0.4  # what is cached takes less, and a bar would only flicker
_WORK = "work"  # in the session: the state of each piece of work that was begun
# The work of `until_done` around this call.
_enclosing_work: ContextVar[Hashable] = ContextVar("enclosing_work", default=None)

Result = TypeVar("Result")


@dataclass
class _State:
    """How much of a piece of work is done, from 0 to 1, and whether it was stopped or finished."""

    done_share: float = 0.0
    is_stopped: bool = False
    is_done: bool = False  # kept of what waits for a button, which then need not be pressed again


def in_steps(steps: Sequence[Callable[[], Result]], text: str, work_key: Hashable) -> list[Result]:
    """Results of the steps, called one after the other under a progress bar labelled `text`."""
    return list(with_progress((step() for step in steps), lambda _: 1 / len(steps), text, work_key))


def with_progress(
    parts: Iterable[Result], share: Callable[[Result], float], text: str, work_key: Hashable
) -> Iterator[Result]:
    """Yields `parts` one by one; after each part the progress bar advances by `share(part)`; all shares sum to 1."""
    done_share = 0.0
    with progress(text, work_key) as move:
        for part in parts:
            yield part
            done_share += share(part)
            move(done_share)


@contextmanager
def progress(
    text: str, work_key: Hashable, container: DeltaGenerator | None = None
) -> Iterator[Callable[..., None]]:
    """Context that yields a function to move a progress bar: it takes the share that is done, from 0 to 1, and optionally another
    text.

    The bar is drawn in `container`, by default the current one. `work_key` identifies the work: if work of the same `work_key` was
    stopped before, the page ends here, with a button to continue.
    """
    work_key, container = _enclosing_work.get() or work_key, container or st.empty()
    if stopped_share(work_key) is not None:
        say_stopped(text, work_key, container)
        st.stop()
    try:
        yield _Bar(text, work_key, container).move
    except Exception:  # not where Streamlit ends the run: the next one draws its own
        container.empty()
        raise
    container.empty()
    if _enclosing_work.get() is None:
        _work_states().pop(work_key, None)


class _Bar:
    """A progress bar with a Stop button."""

    def __init__(self, text: str, work_key: Hashable, container: DeltaGenerator) -> None:
        self._text, self._work_key, self._container = text, work_key, container
        self._start = time.monotonic()
        self._bar: DeltaGenerator | None = None

    def move(self, share: float, text: str = "") -> None:
        if time.monotonic() - self._start <= SECONDS_BEFORE_BAR:
            return
        share = min(share, 1.0)
        _work_states().setdefault(self._work_key, _State()).done_share = share
        label = text or f"{self._text} {format_number(share, '.0%')}"
        if self._bar is None:
            with self._container.container(horizontal=True, vertical_alignment="bottom"):
                self._bar = st.progress(share, label)
                _draw_button("Stop", "stop", self._work_key, partial(_stop, self._work_key))
        else:
            self._bar.progress(share, label)


def stopped_share(work_key: Hashable) -> float | None:
    """Share of the work, from 0 to 1, that was done when the user stopped it; None if it was not stopped."""
    state = _work_states().get(work_key)
    return state.done_share if state is not None and state.is_stopped else None


def say_stopped(text: str, work_key: Hashable, container: DeltaGenerator) -> None:
    """Writes how much of the stopped work is done, with a button to continue."""
    with container.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{text.removesuffix(' …')}: stopped at {format_number(_work_states()[work_key].done_share, '.0%')}.",
            width="content",
        )
        _draw_button("Continue", "play_arrow", work_key, partial(forget_stopped, work_key))


def forget_stopped(work_key: Hashable) -> None:
    """Forgets that this work was stopped, so that the next run of the page goes on with it."""
    _work_states().pop(work_key, None)


def is_wanted(
    work_key: Hashable, label: str, key: str, *, is_short: bool, container: DeltaGenerator | None = None
) -> bool:
    """Whether to do this work now: if it `is_short` and was not stopped, or was finished before. Otherwise a button
    with this `label` is drawn (in `container`, by default the current one), and the work is wanted once the button is
    pressed.

    The work itself belongs inside `until_done(work_key)`.
    """
    state = _work_states().get(work_key, _State())
    if state.is_done or (is_short and not state.is_stopped):
        return True
    container = st.empty() if container is None else container.empty()
    with container.container(horizontal=True, vertical_alignment="center"):
        is_pressed = st.button(label, key=key, icon=":material/timer:")
        if state.done_share:
            st.caption("Stopped before its end.", width="content")
    if is_pressed:
        container.empty()
        _work_states()[work_key] = _State()
    return is_pressed


@contextmanager
def until_done(work_key: Hashable) -> Iterator[None]:
    """Context for work that was `is_wanted`. Stop at any progress bar inside it stops the whole work; it counts as done only if
    the context ends normally.
    """
    token = _enclosing_work.set(work_key)
    try:
        yield
    finally:
        _enclosing_work.reset(token)
    if work_key in _work_states():
        _work_states()[work_key] = _State(is_done=True)


def _draw_button(label: str, icon: str, work_key: Hashable, on_click: Callable[[], None]) -> None:
    """Draws a button for this work; several bars of one piece of work have one each, which do the same."""
    for number in count():
        key = f"{label.lower()}_{hash(work_key) & 0xFFFFFFFF:x}_{number}"
        with suppress(StreamlitDuplicateElementKey):
            st.button(label, icon=f":material/{icon}:", key=key, on_click=callback(key, on_click))
            return


def _stop(work_key: Hashable) -> None:
    _work_states().setdefault(work_key, _State()).is_stopped = True


def _work_states() -> dict[Hashable, _State]:
    return st.session_state.setdefault(_WORK, {})
