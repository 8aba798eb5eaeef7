"""Compare: the same input through the pre-LN and the post-LN checkpoint of a pair."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages import state
from app_pages.widgets.choice import choice
from app_pages.widgets.head_choice import overview
from app_pages.widgets.measures_note import measures_note
from app_pages.widgets.prediction import prediction
from viz.attention.attention_heatmap import attention_heatmap
from viz.attention.difference_heatmap import difference_heatmap

PLACEMENTS = ("pre-LN", "post-LN")
SIDE_BY_SIDE, DIFFERENCE = "side by side", "post-LN minus pre-LN"


def beside(row: str) -> list[DeltaGenerator]:
    """A place for either of the pair; where the window is narrow, the second is below the first."""
    with st.container(horizontal=True, gap="medium"):
        return [st.container(key=f"side_{row}_{placement}") for placement in PLACEMENTS]


chosen = state.selection()
names = state.pair(chosen.checkpoint)
if names is None:
    st.info(f"{chosen.checkpoint} has no counterpart: a pair is called NAME-pre-ln and NAME-post-ln.")
    st.stop()
try:
    records = [state.record(name, chosen.given) for name in names]
except (ValueError, OSError) as error:
    st.info(f"The pair of {chosen.checkpoint} cannot be compared: {error}.")
    st.stop()
pre, post = records
if pre.tokens != post.tokens or pre.pattern.shape != post.pattern.shape:
    st.info(
        f"{names[0]} and {names[1]} differ in more than the placement of the norm, so no cell corresponds."
    )
    st.stop()

layer, head, scale = chosen.layer, chosen.head, chosen.scale
with chosen.top:
    for placement, record, place in zip(PLACEMENTS, records, beside("answer"), strict=True):
        with place:
            prediction(record, chosen.label, title=placement, key=f"probabilities_{placement}")

for placement, name, place in zip(PLACEMENTS, names, beside("overview"), strict=True):
    with place:
        st.markdown(f"**{placement}**, all heads")
        overview(name, chosen.given, selected=(layer, head), scale=scale, key=f"overview_{placement}")

st.caption(
    "The two encoders were trained separately, so their heads do not correspond by number: "
    f"L{layer} H{head} of one may do what another head does in the other."
)
measures_note("tokens" if pre.patch_grid is None else "patches")
view = choice(f"L{layer} H{head}", (SIDE_BY_SIDE, DIFFERENCE), key="compared")
if view == DIFFERENCE:
    figure = difference_heatmap(
        pre.pattern[layer, head],
        post.pattern[layer, head],
        pre.tokens,
        names=PLACEMENTS,
        title=f"L{layer} H{head}, post-LN minus pre-LN",
    )
    st.plotly_chart(figure, key="difference")
else:
    for placement, record, place in zip(PLACEMENTS, records, beside("matrix"), strict=True):
        figure = attention_heatmap(
            record.pattern[layer, head],
            record.tokens,
            mask=record.mask[layer, head],
            scale=scale,
            title=f"{placement} L{layer} H{head}",
        )
        place.plotly_chart(figure, key=f"matrix_{placement}")
