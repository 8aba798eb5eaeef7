"""A head in one sentence: its name, and which kind of key gets most of its weight.

Both refer to the whole input: they stay the same when special tokens are hidden or word pieces merged.
"""

import re

import streamlit as st

from app_pages.controls.head_choice import HeadChoice
from app_pages.subject.head_name import head_names
from app_pages.subject.subject import Subject
from app_pages.toolkit.markdown import plain
from model.lenses import ATTENTION, Lens
from model.measures.head_statistics import AttentionByKind, attention_by_kind
from model.record import AttentionRecord
from viz.builders.heatmap import position_labels
from viz.builders.number_format import head_name, percent

_PATCH = re.compile("r([0-9]+)c([0-9]+)")
MUCH = 0.3  # of the weight: with less, no single kind of key describes the head
HALF = 0.5  # of the weight: with as much on the query and its neighbours together, a head is local
ROUNDING = 1e-4  # of two ways to add up the weight of one key


def say_what_it_attends_to(subject: Subject, chosen: HeadChoice, maps: AttentionRecord) -> None:
    """Writes the name of the chosen head, or layer, and what it attends to in `maps`.

    `maps` cover the whole input, seen through the chosen lens. The name of a head depends only on its attention.
    """
    lens, help = chosen.lens, None
    head = chosen.head if lens.has_heads else 0
    name = f"**{head_name(chosen.layer, head)}**" if lens.has_heads else f"**L{chosen.layer}**"
    if lens.name == ATTENTION:
        names = head_names(subject, chosen.layer, chosen.head)
        name += f" · {names.short}" if names.short else ""
        help = names.help
    shares = attention_by_kind(maps, chosen.layer, head) if lens.sums_to_1 else None
    if shares is None:
        st.markdown(name, help=help)
        return
    colon = ":" if " · " in name else " ·"
    sentence = in_words(shares, maps, "its weight" if lens.name == ATTENTION else "each row")
    st.markdown(f"{name}{colon} :gray[{plain(sentence)}]", help=help)


def head_sentence(subject: Subject, maps: AttentionRecord, lens: Lens, layer: int, head: int) -> str:
    """The role of a head and what most of its weight goes to in `maps`, as plain text on one line."""
    role = head_names(subject, layer, head).short if lens.name == ATTENTION else ""
    shares = attention_by_kind(maps, layer, head if lens.has_heads else 0) if lens.sums_to_1 else None
    if shares is None:
        return role
    sentence = in_words(shares, maps, "its weight" if lens.name == ATTENTION else "each row")
    return f"{role}: {sentence}" if role else sentence


def in_words(shares: AttentionByKind, maps: AttentionRecord, whole: str) -> str:
    """Sentence on where most of the weight goes, as plain text; `whole` names what the shares, means over queries, are parts of."""
    kind, share = max(shares.kinds.items(), key=lambda item: item[1])
    attended = maps.attended
    unit = "word" if maps.merged else "token"
    near = [
        shares.kinds.get(name, 0) for name in ("the query itself", f"the {unit} before", f"the next {unit}")
    ]
    if sum(near) >= HALF > max(near):
        return (
            f"on average {percent(sum(near), 0)} of {whole} goes to the query itself and its two neighbours"
        )
    if shares.largest > max(share + ROUNDING, MUCH):
        token = position_labels(attended.tokens, attended.numbers)[shares.key]
        key = (
            f"“{token}”" if attended.unit == "token" else _PATCH.sub(r"the patch in row \1, column \2", token)
        )
        return f"on average {percent(shares.largest, 0)} of {whole} goes to {key}"
    if share >= MUCH:
        return f"on average {percent(share, 0)} of {whole} goes to {kind}"
    *other_names, last_name = shares.short_names
    kinds = f" each to {', '.join(other_names)} and {last_name}" if other_names else f" to {last_name}"
    return f"no favourite: on average at most {percent(share, 0)}{kinds}"
