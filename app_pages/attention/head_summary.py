"""A head in a few words: what it is called, and which kind of key gets most of its weight.

Both are of the whole input: a view that hides special tokens or merges pieces into words changes neither.
"""

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import Subject
from app_pages.toolkit.markdown import plain
from model.lenses import ATTENTION
from model.measures.attended_kinds import AttentionByKind, attention_by_kind
from model.record import AttentionRecord
from viz.builders.heatmap import position_labels
from viz.builders.number_format import head_name, percent

MUCH = 0.3  # of the weight: below, no kind of key stands for what the head looks at
ROUNDING = 1e-4  # of two ways to add up the weight of one key


def say_what_it_looks_at(
    subject: Subject, chosen: HeadChoice, seen: AttentionRecord, beside: str = ""
) -> None:
    """The chosen head, or its layer, in what is `seen` of the whole input through the lens that is chosen.

    A sentence may stand `beside` it. What the head is called says its attention alone, whatever the lens.
    """
    lens, help = chosen.lens, None
    head = chosen.head if lens.has_heads else 0
    name = f"**{head_name(chosen.layer, head)}**" if lens.has_heads else f"**L{chosen.layer}**"
    if lens.name == ATTENTION:
        called = head_names(subject, chosen.layer, chosen.head)
        name += f" · {called.short}" if called.short else ""
        help = called.help
    beside = f" :gray[{beside}]" if beside else ""
    found = attention_by_kind(seen, chosen.layer, head) if lens.sums_to_1 else None
    if found is None:
        st.markdown(f"{name}{beside}", help=help)
        return
    between = ":" if " · " in name else " ·"
    said = in_words(found, seen, "its weight" if lens.name == ATTENTION else "each row")
    st.markdown(f"{name}{between} :gray[{said}{'.' * bool(beside)}]{beside}", help=help)


def in_words(found: AttentionByKind, seen: AttentionRecord, whole: str) -> str:
    """Shares are means over the queries; Markdown."""
    what, share = max(found.kinds.items(), key=lambda kind: kind[1])
    if found.largest > max(share + ROUNDING, MUCH):
        attended = seen.attended
        token = position_labels(attended.tokens, attended.numbers)[found.key]
        one = f"“{plain(token)}”" if attended.unit == "token" else token
        return f"{percent(found.largest, 0)} of {whole} on {one}, mean over the queries"
    if share >= MUCH:
        return f"{percent(share, 0)} of {whole} on {plain(what)}, mean over the queries"
    *most, last = map(plain, found.short_names)
    kinds = f" each on {', '.join(most)} and {last}" if most else f" on {last}"
    rest = f"{percent(found.elsewhere, 0)} of {whole} on other {seen.attended.units}"
    return f"{rest}; at most {percent(share, 0)}{kinds}, on average"
