"""What the chosen query attends to in each layer."""

from typing import Any

import numpy as np
import streamlit as st

from app_pages.attention.shown_head import ShownHead
from app_pages.controls.attention_controls import HEAD, MEAN
from app_pages.controls.head_choice import step, take_layer
from app_pages.show.show import clickable, show
from app_pages.toolkit.gestures import arrow_keys, row_clicks
from model.inputs import Picture, preprocessed_picture
from model.measures.head_measures import combine_heads
from viz.attention.layer_heatmap import layer_heatmap
from viz.attention.layer_pictures import layer_pictures


def draw_by_layer(shown: ShownHead, part: str) -> None:
    """Draws the weights of the query in each layer, of the heads with the chosen number or, by `part`, the mean or
    maximum over all heads of a layer; a click on a row, or on the picture of a layer, chooses that layer.
    """
    chosen, query, record = shown.chosen, shown.query, shown.view.record
    # [head, layer, key]
    rows, masks = (np.moveaxis(maps[:, :, query], 1, 0) for maps in (record.pattern, record.mask))
    if part == HEAD:
        weights, mask = rows[chosen.head], masks[chosen.head]
        what = f"head {chosen.head} of each" if chosen.lens.has_heads else ""
    else:
        weights = combine_heads(rows, "mean" if part == MEAN else "maximum")
        mask = np.logical_or.reduce(masks)
        what = f"{part} over its heads"
    what_is_shown: dict[str, Any] = {
        "query": query,
        "layer": chosen.layer,
        "scale": chosen.weights_to("the largest weight here", weights),
        "what": what,
        "notes": shown.view.notes_on(weights),
    }
    if record.patch_grid is None:
        with st.container(key="matrix_by_layer"):
            show(layer_heatmap(record, weights, mask=mask, **what_is_shown), key="by_layer")
            row_clicks("matrix_by_layer", len(weights), take_layer)
            arrow_keys("matrix_by_layer", step, name="What the query attends to in each layer")
    else:
        read = shown.subject.model_input
        assert isinstance(read, Picture), record.unit
        image = preprocessed_picture(read.array, shown.subject.record)
        clickable(
            layer_pictures(record, image, weights, **what_is_shown),
            key="overview_by_layer",
            chosen=chosen.layer,
            selection="layer",
            take=lambda clicked: take_layer(int(clicked["layer"])),
            width="content",
        )
        arrow_keys("overview_by_layer", step, name="What the query attends to in each layer")
    if part == HEAD and chosen.lens.has_heads:
        st.caption(
            "Heads of the same number in different layers have no more in common than any others. “Mean”, under View, "
            "shows what a layer as a whole attends to."
        )
