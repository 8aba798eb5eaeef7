"""What the classifier answers, in words and as bars."""

import streamlit as st

from model.record import ForwardRecord
from viz.probabilities import probabilities


def prediction(record: ForwardRecord, label: str | None, *, key: str, title: str = "Prediction") -> None:
    """The most probable class, whether it is the right one where `label` says so, and every probability."""
    values = record.probabilities
    said = record.class_names[values.argmax()]
    verdict = {None: None, said: "right"}.get(label, f"wrong, it is {label}")
    with st.container(horizontal=True, vertical_alignment="center", width=720):
        st.metric(title, said, verdict, delta_color="off", delta_arrow="off", width=170)
        st.altair_chart(probabilities(values, record.class_names), key=key)
