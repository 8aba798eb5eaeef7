"""Attention windows or the causal mask of the opened encoder: how far each layer sees, and from how far information can reach a
token.
"""

import numpy as np
import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.show.show import show
from app_pages.subject import cache
from app_pages.subject.as_python import encoder
from app_pages.subject.subject import LiveSubject
from app_pages.toolkit.expression import call, named
from app_pages.toolkit.markdown import counted
from model.experiments.position_kinds import Reach, is_everything_seen, reach
from viz.positions.position_curves import reach_bars

DRAWN = 256  # positions to either side, if no window needs more


def draw_windows(subject: LiveSubject, _slots: Slots) -> None:
    """Draws how far each layer sees, and from how far a token's state after it can hold information."""
    measured: Reach = cache.of(reach, subject.checkpoint)
    remark = "" if measured.sees[:, 1].any() else " No layer sees later tokens: the mask is causal."
    st.markdown(f"**How far each layer sees.** {_information_sentence(measured)}{remark}")
    names = [f"L{layer}" for layer in range(len(measured.sees))]
    limited = measured.holds[measured.holds < measured.half]
    half = min(measured.half, max(DRAWN, int(limited.max(initial=0))))
    source = named("seen", call(reach, encoder(subject.checkpoint)), lambda: measured)
    seen, held = (call(np.minimum, distances, half) for distances in (source.sees, source.holds))
    figure = call(reach_bars, seen, held, axis_end=half, names=names)
    show(figure, key="positions_own_reach")
    record = subject.record
    sees_all = cache.of(is_everything_seen, subject.checkpoint, len(record))
    st.markdown(
        f"In this input of {counted(len(record), 'token')}, every token sees all others in {int(sees_all.sum())} of {len(sees_all)} layers."
    )
    has_windows = bool(subject.loaded.config.family.parts.windows)
    adding = ", so windows add up (Beltagy et al. 2020, section 3.1)" if has_windows else ""
    st.caption(
        f"For the token in the middle of the longest text that this encoder reads, {2 * measured.half + 1:,} positions; bars that reach "
        f"the end of the axis may go on. What a layer passes on has come through the layers before it{adding}."
    )


def range_text(distances: np.ndarray, half: int) -> str:
    """Text on how far a layer sees, from its `distances` before and after a token; `half` is the largest measured distance and
    stands for all tokens.
    """
    before, after = (int(distance) for distance in distances)
    if min(before, after) == half:
        return "everything"
    if not after:
        return "the token itself and " + ("all earlier ones" if before == half else f"{before} earlier ones")
    if before == after:
        return f"±{before} positions"
    return f"{before} positions before and {after} after"


def _information_sentence(measured: Reach) -> str:
    """Sentence on the distance from which information can have reached a token."""
    everything = np.flatnonzero(measured.holds.min(axis=1) == measured.half)
    if len(everything):
        return f"After L{everything[0]}, a token can hold information from everywhere."
    return f"After the last layer, a token can hold information from {range_text(measured.holds[-1], measured.half)}."
