"""The input itself, a text or a digit, in the colours of what one query attends to."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from app_pages.widgets.head_choice import take_query
from app_pages.widgets.show import clickable
from model.inputs import Input
from model.record import ForwardRecord
from viz.attention.token_strip import token_strip
from viz.palette import ColourScale
from viz.picture_patches import picture_overlay

LONG, HEIGHT = 80, 260  # a text of more tokens scrolls in so many pixels: the rest must not be far below


def input_in_colours(
    read: Input,
    record: ForwardRecord,
    weights: np.ndarray,
    *,
    query: int,
    scale: ColourScale,
    key: str,
    take: Callable[[int], None] = take_query,
) -> None:
    """`weights` [key] of `query` over what the encoder `read`; a click hands the position to `take`."""
    draw = partial(clickable, key=key, chosen=query)
    if record.unit == "token":
        strip = token_strip(record, weights, query=query, scale=scale)
        with st.container(height=HEIGHT if len(record) > LONG else "content", border=False):
            draw(strip, selection="token", take=lambda token: take(int(token["position"])))
        return
    first = record.first_patch
    patch = query - first if query >= first else None
    overlay = picture_overlay(read.array, weights[first:], record.patch_grid, query=patch, scale=scale)
    draw(overlay, selection="patch", take=lambda at: take(int(at["position"]) + first), width="content")
    class_token_weight(record, weights)


def class_token_weight(record: ForwardRecord, weights: np.ndarray) -> None:
    """What a picture leaves out of `weights` [key]: the class token, where there is one, is no patch of it."""
    for at in record.at("class"):
        st.caption(f"Weight on the class token, which has no place on the digit: {weights[at]:.3f}")
