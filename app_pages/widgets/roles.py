"""What a head is called, beside its number: the names of `model.measures.roles`, with the rule that gave each as help."""

import streamlit as st

from app_pages import state
from app_pages.atlas import heads_of, over
from model.measures.roles import Role, roles, roles_on
from model.record import AttentionRecord


def say_roles(chosen: state.HeadSelection) -> None:
    """In a bar, behind the boxes of layer and head; nothing for a head without a name."""
    said, rules = named(chosen)
    if said:
        st.markdown(f":gray[{said}]", help=rules, width="content")


def named(chosen: state.HeadSelection, record: AttentionRecord | None = None) -> tuple[str, str]:
    """What the chosen head is called on this input, and over the data set where that differs; and the rules.

    `record` is a view of the input; else the whole of it counts. Both are "" for a head without a name.
    """
    record, layer, head = chosen.record if record is None else record, chosen.layer, chosen.head
    here = roles_on(record, layer, head)
    mostly, data = _over_data(chosen, record)
    said = _and(here)
    if data and mostly != here:
        said = f"{said or 'no role'} here; over {data}: {_and(mostly) or 'no role'}"
    return said, "; ".join(f"**{role.name}**: {role.rule}" for role in dict.fromkeys((*here, *mostly)))


def _over_data(chosen: state.HeadSelection, record: AttentionRecord) -> tuple[tuple[Role, ...], str]:
    """Those by the means over the data set, and what that is; "" where nothing is stored."""
    stored = heads_of(chosen.checkpoint) if chosen.opened is None else None
    if stored is None or stored.z.shape[:2] != record.pattern.shape[:2]:
        return (), ""
    means = {name: spread.mean for name, spread in stored.spreads.items()}
    return roles(record, means, chosen.layer, chosen.head), over(stored.source)


def _and(found: tuple[Role, ...]) -> str:
    return ", ".join(role.name for role in found)
