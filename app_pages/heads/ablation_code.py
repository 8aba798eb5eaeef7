"""What is taken away from the encoder: a code in the address, `ablated=h0-1.a2.f3.p4`, with a way back.

h0-1 is head 1 of layer 0, a2 all of attention in layer 2, f3 the feed-forward of layer 3, p4 position 4. No widget holds
it, since clicks and boxes change it alike.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import streamlit as st

from app_pages.controls.heads_controls import ABLATED
from model.record import ForwardRecord

HISTORY = "ablated_history"  # in the session
FARTHEST = 50  # steps back
_ONE = re.compile("(h)([0-9]{1,4})-([0-9]{1,4})|([afp])([0-9]{1,6})")

Part = tuple[int | str, ...]  # ("h", layer, head), ("a", layer), ("f", layer) or ("p", position)


class Away(NamedTuple):
    """In order; all of it together."""

    heads: tuple[tuple[int, int], ...]
    layers: tuple[int, ...]
    feed_forwards: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def parts(self) -> set[Part]:
        heads = {("h", *each) for each in self.heads}
        rest = zip("afp", (self.layers, self.feed_forwards, self.positions), strict=True)
        return heads | {(kind, at) for kind, each in rest for at in each}


def away(record: ForwardRecord) -> Away:
    """What the address holds; what cannot be read, or is not there in this encoder and input, is passed over."""
    n_layers, n_heads, n, _ = record.pattern.shape
    ends = {"h": (n_layers, n_heads), "a": (n_layers,), "f": (n_layers,), "p": (n,)}
    found: dict[str, set] = {kind: set() for kind in ends}
    for each in map(_ONE.fullmatch, ABLATED.read().split(".")):
        if each is not None:
            kind, *at = (part for part in each.groups() if part is not None)
            place = tuple(map(int, at))
            if all(one < end for one, end in zip(place, ends[kind], strict=True)):
                found[kind].add(place if kind == "h" else place[0])
    return Away(*(tuple(sorted(found[kind])) for kind in ends))


def take_away(parts: Iterable[Part]) -> None:
    """For callbacks: these and no others from now on; what was before can be had back."""
    before = ABLATED.read()
    code = ".".join(
        "".join(map(str, part[:2])) + "".join(f"-{at}" for at in part[2:]) for part in sorted(parts, key=str)
    )
    if code != before:
        st.session_state[HISTORY] = [*st.session_state.get(HISTORY, ()), before][-FARTHEST:]
        ABLATED.take(code)


def toggle(record: ForwardRecord, part: Part) -> None:
    """For callbacks: takes away what is there, and puts back what is not."""
    take_away(away(record).parts ^ {part})


def can_undo() -> bool:
    return bool(st.session_state.get(HISTORY))


def undo() -> None:
    """For callbacks: as it was before the last change."""
    if history := st.session_state.get(HISTORY):
        ABLATED.take(history[-1])
        st.session_state[HISTORY] = history[:-1]


def forget_tokens(record: ForwardRecord) -> None:
    """Puts back the positions that were taken away in another text."""
    if ABLATED.is_of_other_text(record.tokens):
        kept = away(record)._replace(positions=())
        if kept != away(record):
            take_away(kept.parts)
