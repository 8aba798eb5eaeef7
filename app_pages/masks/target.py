"""The input itself, in the colours of the chosen query; what that query may not see is struck out or hatched.

A click blocks or frees where keys or cells are blocked one by one; elsewhere it chooses the query.
"""

from functools import partial

import streamlit as st

from app_pages.masks.blocked import CELLS, KEYS, toggle
from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import take_query
from app_pages.widgets.input_in_colours import class_token_weight
from app_pages.widgets.show import clickable
from model.intervention import Kind, MaskChoice
from model.record import ForwardRecord
from viz.attention.token_strip import token_strip
from viz.masks.cell_board import cell_board
from viz.picture_patches import picture_overlay

LONG, HEIGHT = 80, 250  # a text of more tokens scrolls in so many pixels
LARGEST_BOARD = 64  # positions; beyond, cells are too small to be hit


def has_board(kind: Kind, n: int) -> bool:
    return kind == "cells" and n <= LARGEST_BOARD


def click_target(
    chosen: HeadSelection,
    unmasked: ForwardRecord,
    after: ForwardRecord,
    choice: MaskChoice,
    query: int,
    n: int,
) -> None:
    """A board of cells where these are blocked and can be hit; otherwise the text or the picture.

    `unmasked` has the positions of `after`, which is under the mask; `n` counts them without any padding that the mask
    appends.
    """
    head = chosen.layer, chosen.head
    target = partial(clickable, chosen=(choice, query))
    appearance = {"query": query, "scale": chosen.of_head(unmasked, after)}
    if has_board(choice.kind, n):
        board = cell_board(after.pattern[head], after.tokens, mask=after.mask[head], **appearance)

        def take_cell(cell: dict) -> None:
            toggle(CELLS, (int(cell["query"]), int(cell["key"])), n)

        target(board, key="masks_board", selection="cell", take=take_cell, width="content")
        return
    weights, allowed = after.pattern[head][query], after.mask[head][query]
    take = {
        "keys": lambda key: toggle(KEYS, (key,), n),
        "cells": lambda key: toggle(CELLS, (query, key), n),
    }.get(choice.kind, lambda key: take_query(min(key, n - 1)))
    if after.patch_grid is None:
        if choice.kind == "cells":
            st.caption(
                f"{n} × {n} cells are too many to be hit: here a click blocks the token for query {query} alone."
            )
        strip = token_strip(after, weights, allowed=allowed, **appearance)
        with st.container(height=HEIGHT if len(after) > LONG else "content", border=False):
            target(strip, key="masks_strip", selection="key", take=lambda token: take(int(token["position"])))
        return
    first = after.first_patch
    appearance["query"] = query - first if query >= first else None
    patches = picture_overlay(
        chosen.given.array,
        weights[first:],
        after.patch_grid,
        n_keys=int(allowed.sum()),
        allowed=allowed[first:],
        **appearance,
    )

    def take_patch(patch: dict) -> None:
        take(int(patch["position"]) + first)

    target(patches, key="masks_patches", selection="key", take=take_patch, width="content")
    class_token_weight(after, weights)
