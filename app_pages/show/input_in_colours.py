"""The input itself, a text or a picture, coloured by the weights of one query."""

from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.head_choice import take_query
from app_pages.show.show import clickable, show, toggled
from app_pages.toolkit.expression import Expression, call
from app_pages.toolkit.markdown import as_code
from model.record import AttentionRecord
from viz.attention.picture_patches import query_on_picture
from viz.attention.token_strip import weight_strip
from viz.builders.palette import WeightScale

MOST_CAPTIONS = 8  # of tokens beside a picture, each with its weight
LONG, HEIGHT = 80, 260  # a text of more tokens scrolls in so many pixels: the rest must not be far below


class Toggling(NamedTuple):
    """Positions that a click turns on or off: those that are `on`, and the callback `take`, which gets all that are on after a
    click.
    """

    on: Collection[int]
    take: Callable[[set[int]], None]


def input_in_colours(
    picture: Expression | None,
    source: Expression,
    weights_of_query: Expression,
    *,
    query: int,
    scale: WeightScale,
    key: str,
    take: Callable[[int], None] = take_query,
    chosen: Hashable = None,
    allowed: Expression | np.ndarray | None = None,
    toggling: Toggling | None = None,
    legend: bool = True,
) -> None:
    """Draws the input of the record `source`, coloured by the weights [key] of `query`; a click calls `take` with the clicked
    position of the input.

    `picture` holds the pixels that the encoder reads, None for a text. `chosen` is the value that a click changes, by default the
    query; with `toggling` a click turns a position on or off instead. Keys that are not `allowed` [key] are struck out or
    hatched; positions that are only keys cannot be clicked. A long text scrolls. Without `legend` only the downloaded file has
    the colour bar.
    """
    record: AttentionRecord = source()
    weights: np.ndarray = weights_of_query()

    # The strip of a text already has the positions in the input.
    take_mark = take if record.unit == "token" else lambda position: take(record.number(position))

    def draw(figure: Expression, *, shown: range, selection: str, **more: Any) -> None:
        if toggling is None:
            clickable(
                figure,
                key=key,
                chosen=query if chosen is None else chosen,
                selection=selection,
                take=lambda mark: take_mark(int(mark["position"]) + shown.start),
                **more,
            )
            return
        others = {position for position in toggling.on if position not in shown}
        toggled(
            figure,
            key=key,
            on=[position - shown.start for position in toggling.on if position in shown],
            n=len(shown),
            take=lambda marks: toggling.take(others | {mark + shown.start for mark in marks}),
            stamp=" ".join(record.tokens),
            **more,
        )

    if record.unit == "token":
        strip = partial(
            call,
            weight_strip,
            source.attended,
            weights_of_query,
            query=query if record.keys is None else None,
            scale=scale,
            allowed=allowed,
        )
        selection = "token" if allowed is None else "key"
        with st.container(height=HEIGHT if len(record) > LONG else "content", border=False):
            if record.keys is None:
                draw(strip(legend=legend), shown=range(len(record)), selection=selection, in_file=strip())
            else:
                show(strip(legend=legend), key=key, in_file=strip())
        return
    patches = record.patches
    assert picture is not None, record.unit
    overlay = call(
        query_on_picture, source, picture, weights_of_query, query=query, scale=scale, allowed=allowed
    )
    selection = "patch" if allowed is None else "key"
    draw(overlay, shown=range(patches.start, patches.stop), selection=selection, width="content")
    others = [index for index, role in enumerate(record.roles) if role != "patch"]
    if len(others) > MOST_CAPTIONS:
        weight = weights[others].sum()
        st.caption(f"Weight on the {len(others)} tokens that are not part of the picture: {weight:.3f}")
        return
    for index in others:
        name = "class token" if record.roles[index] == "class" else f"token {as_code(record.tokens[index])}"
        st.caption(f"Weight on the {name}, which is not part of the picture: {weights[index]:.3f}")
