"""The page that `benchmarks.pointing` measures: the linked chart of random weights, of the size in its address."""

import numpy as np
import streamlit as st

from app_pages.show.linked_view import Choice, linked_view
from loupe import from_arrays
from viz.builders.palette import TO_ONE

st.set_page_config(layout="wide")
st.html("<style>.st-key-chart_chart, .st-key-chart_chart * { height: 30rem !important; }</style>")
n_layers, n_heads, n_tokens = map(int, st.query_params["size"].split("x"))
weights = np.random.default_rng(0).dirichlet(np.full(n_tokens, 0.1), (n_layers, n_heads, n_tokens))
record = from_arrays(weights.astype(np.float32), [f"word{number}" for number in range(n_tokens)])
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
