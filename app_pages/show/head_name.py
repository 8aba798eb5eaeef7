"""What a head is called, beside its number: the names of `model.measures.head_roles`, with the rule that gave each as help."""

from typing import NamedTuple

import streamlit as st

from app_pages.subject import state
from app_pages.subject.stored_results import heads_of, over
from app_pages.toolkit.markdown import plain
from model.measures.head_roles import Role, roles, roles_on


class Called(NamedTuple):
    """What the chosen head is called; "" where it has no such name."""

    here: str  # on this input
    mostly: str  # by the means over a data set
    data: str  # such as "872 SST development sentences", in Markdown; "" where nothing is stored
    rules: str  # of all these names, in Markdown

    @property
    def short(self) -> str:
        """Where room is scarce: the name on this input, or else the one over the data set, which is said."""
        return self.here or (f"{self.mostly} over the data set" if self.mostly else "")

    @property
    def whole(self) -> str:
        """Both names, where they differ."""
        if not self.data or self.here == self.mostly:
            return self.here
        return f"{self.here or 'no role'} here; over {self.data}: {self.mostly or 'no role'}"

    @property
    def help(self) -> str | None:
        """The rules, and what the name is over the data set."""
        if not self.rules:
            return None
        return f"{self.rules}." + (f" Over {self.data}: {self.mostly or 'no role'}." if self.data else "")


def say_roles(chosen: state.HeadSelection) -> None:
    """In a bar, behind the boxes of layer and head; nothing for a head without a name."""
    called = named(chosen)
    if called.short:
        st.markdown(f":gray[{called.short}]", help=called.help, width="content")


def named(chosen: state.HeadSelection) -> Called:
    """By the whole input, whatever a view of it hides."""
    here = roles_on(chosen.record, chosen.layer, chosen.head)
    mostly, data = _over_data(chosen)
    rules = "; ".join(f"**{role.name}**: {role.rule}" for role in dict.fromkeys((*here, *mostly)))
    return Called(_and(here), _and(mostly), data, rules)


def _over_data(chosen: state.HeadSelection) -> tuple[tuple[Role, ...], str]:
    """Those by the means over the data set, and what that is; "" where nothing is stored."""
    stored = heads_of(chosen.checkpoint) if chosen.opened is None else None
    if stored is None or stored.z.shape[:2] != chosen.record.pattern.shape[:2]:
        return (), ""
    means = {name: spread.mean for name, spread in stored.spreads.items()}
    return roles(chosen.record, means, chosen.layer, chosen.head), plain(over(stored.source))


def _and(found: tuple[Role, ...]) -> str:
    return ", ".join(role.name for role in found)
