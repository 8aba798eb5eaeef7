"""A page of the app's server that `pages` measures: the linked chart of random weights, of the size in its query
string.
"""

import streamlit as st

from app_pages.show.linked_view import Choice, linked_view
from benchmarks.beside_peers.random_weights import random_record
from viz.builders.palette import TO_ONE

st.set_page_config(layout="wide")
st.html("<style>.st-key-chart_chart, .st-key-chart_chart * { height: 30rem !important; }</style>")
record = st.cache_resource(random_record)(st.query_params["size"])
n_layers, n_heads, n_tokens, _ = record.pattern.shape
linked_view(
    record,
    Choice(0, 0, n_tokens // 2),
    lambda _choice: None,
    key="chart",
    tokens=st.container(),
    measures={},
    about=[""] * (n_layers * n_heads),
    scale=TO_ONE,
)
