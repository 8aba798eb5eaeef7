"""The input itself, a text or a picture, coloured by the weights of one query."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from app_pages.controls.head_choice import take_query
from app_pages.show.show import clickable, show
from app_pages.toolkit.markdown import as_code
from model.inputs import Input, Picture, preprocessed_picture
from model.record import AttentionRecord
from viz.attention.picture_patches import query_on_picture
from viz.attention.token_strip import weight_strip
from viz.builders.palette import WeightScale

MOST_CAPTIONS = 8  # of tokens beside a picture, each with its weight
LONG, HEIGHT = 80, 260  # a text of more tokens scrolls in so many pixels: the rest must not be far below


def input_in_colours(
    read: Input | None,
    record: AttentionRecord,
    weights: np.ndarray,
    *,
    query: int,
    scale: WeightScale,
    key: str,
    take: Callable[[int], None] = take_query,
    chosen: Hashable = None,
    allowed: np.ndarray | None = None,
    legend: bool = True,
    notes: Sequence[str] = (),
    whole: AttentionRecord | None = None,
) -> None:
    """Draws the input `read`, coloured by `weights` [key] of `query`; a click calls `take` with the position in the input.

    Positions that are only keys cannot be clicked. `read` may be None for a text. `chosen` is the value that a click
    changes, by default the query. Keys that are not `allowed` [key] are struck out or hatched. A long text scrolls.
    Without `legend` the colour bar is drawn in the file only. `notes` say how the weights of a text were
    changed. If `record` is a view, `whole` is the full record, which knows how the encoder sees the picture.
    """
    draw = partial(clickable, key=key, chosen=query if chosen is None else chosen)
    if record.unit == "token":
        strip = partial(
            weight_strip,
            record.attended,
            weights,
            query=query if record.keys is None else None,
            scale=scale,
            allowed=allowed,
            notes=notes,
        )
        selection = "token" if allowed is None else "key"
        with st.container(height=HEIGHT if len(record) > LONG else "content", border=False):
            if record.keys is None:
                draw(
                    strip(legend=legend),
                    selection=selection,
                    take=lambda token: take(int(token["position"])),
                    in_file=strip,
                )
            else:
                show(strip(legend=legend), key=key, in_file=strip)
        return
    patches = record.patches
    assert isinstance(read, Picture), record.unit
    image = preprocessed_picture(read.array, whole or record)
    overlay = query_on_picture(record, image, weights, query=query, scale=scale, allowed=allowed)
    selection = "patch" if allowed is None else "key"
    draw(
        overlay,
        selection=selection,
        take=lambda index: take(record.number(int(index["position"]) + patches.start)),
        width="content",
    )
    others = [index for index, role in enumerate(record.roles) if role != "patch"]
    if len(others) > MOST_CAPTIONS:
        weight = weights[others].sum()
        st.caption(f"Weight on the {len(others)} tokens that are not part of the picture: {weight:.3f}")
        return
    for index in others:
        name = "class token" if record.roles[index] == "class" else f"token {as_code(record.tokens[index])}"
        st.caption(f"Weight on the {name}, which is not part of the picture: {weights[index]:.3f}")
