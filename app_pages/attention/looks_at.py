"""A head in a few words: what it is called, and which kind of key gets most of its weight."""

import streamlit as st

from app_pages.state import HeadSelection
from app_pages.widgets.roles import named
from model.measures.looks import shares
from model.record import AttentionRecord
from viz.numbers import percent

SAID_FROM = 0.3  # of the weight: below, it is spread over many kinds of keys


def say_what_it_looks_at(chosen: HeadSelection, record: AttentionRecord) -> None:
    """Of the chosen head in `record`, which may be a view of the input."""
    name = f"**L{chosen.layer} H{chosen.head}**"
    called, rules = named(chosen, record)
    if called:
        name += f" · {called}"
    by_what = {what: float(values[chosen.layer, chosen.head]) for what, values in shares(record).items()}
    if not by_what:
        st.markdown(name, help=rules or None)
        return
    what, share = max(by_what.items(), key=lambda each: each[1])
    said = f"{percent(share, 0)} of its weight on {what}, mean over the queries"
    if share < SAID_FROM:
        said = f"its weight is spread: {percent(share, 0)} on {what}, and less on other kinds of keys"
    st.markdown(f"{name} :gray[{said}]", help=rules or None)
