"""The input itself, in the colours of the chosen query; what that query may not see is struck out or hatched.

A click blocks or frees where keys or cells are blocked one by one; elsewhere it chooses the query.
"""

from functools import partial

import streamlit as st

from app_pages.masks.controls import CELLS, KEYS
from app_pages.masks.places import toggle
from app_pages.masks.results import Results
from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import take_query
from app_pages.widgets.input_in_colours import class_token_weight
from app_pages.widgets.show import clickable
from model.intervention import Kind, MaskChoice
from viz.attention.token_strip import token_strip
from viz.masks.cell_board import cell_board
from viz.picture_patches import picture_overlay

LONG, HEIGHT = 80, 250  # a text of more tokens scrolls in so many pixels
LARGEST_BOARD = 64  # positions; beyond, cells are too small to be hit


def has_board(kind: Kind, n: int) -> bool:
    return kind == "cells" and n <= LARGEST_BOARD


def click_target(chosen: HeadSelection, found: Results, choice: MaskChoice, query: int) -> None:
    """A board of cells where these are blocked and can be hit; otherwise the text or the digit."""
    layer, head = chosen.layer, chosen.head
    pattern, mask = found.after.pattern[layer, head], found.after.mask[layer, head]
    n = len(found.before.tokens)
    if has_board(choice.kind, n):
        board = cell_board(pattern, found.after.tokens, mask=mask, query=query, scale=chosen.scale)
        clickable(
            board,
            key="masks_board",
            chosen=(choice, query),
            selection="cell",
            take=lambda cell: toggle(CELLS, (int(cell["query"]), int(cell["key"])), n),
            width="content",
        )
        return
    if choice.kind == "cells" and found.after.patch_grid is None:
        st.caption(
            f"{n} × {n} cells are too many to be hit: here a click blocks the token for query {query} alone."
        )
    take = {
        "keys": lambda key: toggle(KEYS, (key,), n),
        "cells": lambda key: toggle(CELLS, (query, key), n),
    }.get(choice.kind, lambda key: take_query(min(key, n - 1)))
    target = partial(clickable, chosen=(choice, query), selection="key")
    if found.after.patch_grid is None:
        strip = token_strip(
            found.after, pattern[query], allowed=mask[query], query=query, scale=chosen.scale
        )
        with st.container(height=HEIGHT if len(found.after.tokens) > LONG else "content", border=False):
            target(strip, key="masks_strip", take=lambda token: take(int(token["position"])))
        return
    first = int(found.before.has_class_token)
    patches = picture_overlay(
        chosen.given.array,
        pattern[query, first:],
        found.before.patch_grid,
        allowed=mask[query, first:],
        query=query - first if query >= first else None,
        scale=chosen.scale,
    )
    target(
        patches,
        key="masks_patches",
        take=lambda patch: take(int(patch["position"]) + first),
        width="content",
    )
    class_token_weight(found.after, pattern[query])
