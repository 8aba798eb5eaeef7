"""The part of a large matrix that is shown, and a small map of the whole, on which a click moves it.

The first query and the first key of the part are a code in the address, `window=64-128`; without one it is around the
chosen query and the key that it looks at most.
"""

import re

import numpy as np
import streamlit as st

from app_pages.controls.attention_controls import WINDOW
from app_pages.show.show import clickable
from viz.attention.small_map import small_map
from viz.builders.palette import WeightScale

LARGE, SIDE = 64, 40  # positions: of more than the first number so many are shown, either way
_ONE = re.compile("([0-9]{1,5})-([0-9]{1,5})")


def window(pattern: np.ndarray, query: int) -> tuple[range, range] | None:
    """Queries and keys of a pattern [query, key] that are shown; None where that is all of them."""
    sides = pattern.shape
    if max(sides) <= LARGE:
        return None
    starts = query - SIDE // 2, int(pattern[query].argmax()) - SIDE // 2
    if chosen := _ONE.fullmatch(WINDOW.read()):
        starts = tuple(map(int, chosen.groups()))
    return tuple(_part(start, n) for start, n in zip(starts, sides, strict=True))


def _part(start: int, n: int) -> range:
    start = min(max(start, 0), max(n - SIDE, 0))
    return range(start, min(start + SIDE, n))


def choose_window(pattern: np.ndarray, shown: tuple[range, range], scale: WeightScale) -> None:
    """The small map; a click on it shows what lies around there, a button what the query looks at."""
    clickable(
        small_map(pattern, shown=shown, top=scale.largest),
        key="small_map",
        chosen=shown,
        selection="place",
        take=lambda point: WINDOW.take(
            "-".join(str(max(int(point[axis]) - SIDE // 2, 0)) for axis in ("query", "key"))
        ),
        width="content",
    )
    st.button(
        "Back to the query",
        key="window_back",
        on_click=WINDOW.take,
        args=("",),
        disabled=not WINDOW.read(),
    )
