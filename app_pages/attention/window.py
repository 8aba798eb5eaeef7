"""The visible part of a large matrix, and a small map of the whole matrix, on which a click moves that part.

Its first query and first key are in the address, as in `window=64-128`. Without them the part surrounds the chosen query
and the key with its largest weight.
"""

import re

import numpy as np
import streamlit as st

from app_pages.controls.attention_controls import WINDOW
from app_pages.show.show import clickable
from app_pages.toolkit.expression import Expression, call
from viz.attention.token_heatmaps import minimap
from viz.builders.palette import WeightScale

LARGE = 64  # positions; of a matrix with more queries or keys only a part is shown
SIDE = 40  # rows and columns of that part
_STARTS = re.compile("([0-9]{1,5})-([0-9]{1,5})")


def window(pattern: np.ndarray, query: int) -> tuple[range, range] | None:
    """Visible ranges of queries and keys of `pattern` [query, key] around `query`; None if all are visible."""
    if max(pattern.shape) <= LARGE:
        return None
    first_query, first_key = query - SIDE // 2, int(pattern[query].argmax()) - SIDE // 2
    if match := _STARTS.fullmatch(WINDOW.read()):
        first_query, first_key = map(int, match.groups())
    return _window_range(first_query, pattern.shape[0]), _window_range(first_key, pattern.shape[1])


def _window_range(start: int, n: int) -> range:
    """Range of `SIDE` positions from `start`, shifted to lie within 0 to `n`."""
    start = min(max(start, 0), max(n - SIDE, 0))
    return range(start, min(start + SIDE, n))


def choose_window(pattern: Expression, shown: tuple[range, range], scale: WeightScale) -> None:
    """Draws the whole map in small, on which a click moves the visible part `shown`, and the button that moves that part back to
    the query.
    """

    def take(point: dict) -> None:
        starts = (max(int(point[axis]) - SIDE // 2, 0) for axis in ("query", "key"))
        WINDOW.take("-".join(map(str, starts)))

    clickable(
        call(minimap, pattern, framed=shown, top=scale.largest),
        key="small_map",
        chosen=shown,
        selection="place",
        take=take,
        width="content",
    )
    st.button(
        "Back to the query", key="window_back", on_click=WINDOW.take, args=("",), disabled=not WINDOW.read()
    )
