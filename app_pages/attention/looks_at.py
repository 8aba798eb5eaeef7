"""A head in a few words: what it is called, and which kind of key gets most of its weight."""

import streamlit as st

from app_pages.state import HeadSelection
from app_pages.widgets.roles import named
from model.lenses import ATTENTION
from model.measures.looks import shares
from model.record import AttentionRecord
from viz.numbers import percent

SAID_FROM = 0.3  # of the weight: below, it is spread over many kinds of keys


def say_what_it_looks_at(chosen: HeadSelection, record: AttentionRecord, beside: str = "") -> None:
    """The chosen head, or its layer, in `record`, which may be a view of the input through the lens that is chosen.

    A sentence may stand `beside` it. What the head is called says its attention alone, whatever the lens.
    """
    lens, help = chosen.lens, None
    head = chosen.head if lens.has_heads else 0
    name = f"**L{chosen.layer} H{head}**" if lens.has_heads else f"**L{chosen.layer}**"
    if lens.name == ATTENTION:
        called = named(chosen, record)
        name += f" · {called.short}" if called.short else ""
        help = called.help
    beside = f" :gray[{beside}]" if beside else ""
    by_what = {what: float(values[chosen.layer, head]) for what, values in shares(record).items()}
    if not lens.sums_to_1 or not by_what:
        st.markdown(f"{name}{beside}", help=help)
        return
    whole = "its weight" if lens.name == ATTENTION else "each row"
    what, share = max(by_what.items(), key=lambda each: each[1])
    said = f"{percent(share, 0)} of {whole} on {what}, mean over the queries"
    if share < SAID_FROM:
        said = f"{whole} is spread: {percent(share, 0)} on {what}, and less on other kinds of keys"
    st.markdown(f"{name} :gray[{said}{'.' * bool(beside)}]{beside}", help=help)
