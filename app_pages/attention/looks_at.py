"""A head in a few words: which kind of key gets most of its weight."""

import streamlit as st

from model.measures.looks import shares
from model.record import AttentionRecord
from viz.numbers import percent

SAID_FROM = 0.3  # of the weight: below, it is spread over many kinds of keys


def say_what_it_looks_at(record: AttentionRecord, layer: int, head: int) -> None:
    by_what = {what: float(values[layer, head]) for what, values in shares(record).items()}
    if not by_what:
        st.markdown(f"**L{layer} H{head}**")
        return
    what, share = max(by_what.items(), key=lambda each: each[1])
    said = f"{percent(share, 0)} of its weight on {what}, mean over the queries"
    if share < SAID_FROM:
        said = f"its weight is spread: {percent(share, 0)} on {what}, and less on other kinds of keys"
    st.markdown(f"**L{layer} H{head}** :gray[{said}]")
