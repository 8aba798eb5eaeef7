"""The input in the colours of the chosen query; what the query may not see is struck out or hatched.

Where keys or cells are blocked one by one, a click blocks or frees; elsewhere it chooses the query. Over tokens a stroke
does the same for several.
"""

import streamlit as st

from app_pages.controls.head_choice import take_query
from app_pages.controls.masks_controls import BLOCKED_CELLS, block, blocked
from app_pages.masks.word_stroke import MaskedInput, draw_word_stroke
from app_pages.show.input_in_colours import Toggling, input_in_colours
from app_pages.show.show import toggled
from model.capture.intervention import MaskKind
from viz.builders.palette import WEIGHTS
from viz.masks.cell_board import cell_board

LARGEST_BOARD = 64  # positions; beyond, cells are too small to be hit


def has_board(kind: MaskKind, n: int) -> bool:
    return kind == "cells" and n <= LARGEST_BOARD


def draw_click_target(view: MaskedInput) -> None:
    """Draws a board of cells if cells are blocked and large enough to click; otherwise the text or the picture."""
    after, chosen, choice, query, n = view.after, view.chosen, view.choice, view.query, view.n
    head = chosen.layer, chosen.head
    pattern, mask, scale = after.pattern[head], after.mask[head], chosen.of_head(view.unmasked, after)
    if has_board(choice.kind, n):
        rows = {
            "scores": after.scores[head].astype(float).round(4).tolist(),
            "allowed": view.unmasked.mask[head].tolist(),
            "largest": scale.largest,
            "colours": list(WEIGHTS),
            "exact": chosen.layer == 0,
        }
        toggled(
            cell_board(pattern, after.tokens, mask=mask, query=query, scale=scale),
            key="masks_board",
            on=[n * of_query + key for of_query, key in blocked(BLOCKED_CELLS, n)],
            n=n * n,
            take=lambda cells: block(BLOCKED_CELLS, (divmod(cell, n) for cell in cells)),
            stamp=" ".join(after.tokens),
            width="content",
            rows=rows if choice.holds_in(*head) else None,
        )
        return
    if choice.kind == "cells":
        st.caption(
            f"{n} × {n} cells are too small to click: here a click blocks the {after.unit} for query {query} alone."
        )
    if after.unit == "token":
        draw_word_stroke(view)
        return
    input_in_colours(
        view.subject.model_input,
        after,
        pattern[query],
        query=query,
        scale=scale,
        key="masks_patches",
        take=lambda key: take_query(min(key, n - 1)),
        chosen=(choice, query),
        allowed=mask[query],
        toggling=Toggling(set(view.blocked_keys()), view.block_keys) if view.hides else None,
    )
