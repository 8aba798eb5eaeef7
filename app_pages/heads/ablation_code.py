"""The ablated parts as a code in the address, `ablated=h0-1.a2.f3.p4`, with undo.

h0-1 is head 1 of layer 0, a2 all of attention in layer 2, f3 the feed-forward of layer 3, p4 position 4. The code belongs
to no single widget, since clicks and boxes both change it.
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


class AblatedParts(NamedTuple):
    """The ablated parts, sorted."""

    heads: tuple[tuple[int, int], ...]
    layers: tuple[int, ...]
    feed_forwards: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def parts(self) -> set[Part]:
        """All ablated parts as one set."""
        heads: set[Part] = {("h", *head) for head in self.heads}
        others = zip("afp", (self.layers, self.feed_forwards, self.positions), strict=True)
        return heads | {(kind, index) for kind, indices in others for index in indices}


def ablated_parts(record: ForwardRecord) -> AblatedParts:
    """The ablated parts in the address; ignores what cannot be parsed or does not exist in this encoder and input."""
    n_layers, n_heads, n, _ = record.pattern.shape
    ends = {"h": (n_layers, n_heads), "a": (n_layers,), "f": (n_layers,), "p": (n,)}
    by_kind: dict[str, set] = {kind: set() for kind in ends}
    for match in map(_ONE.fullmatch, ABLATED.read().split(".")):
        if match is not None:
            kind, *numbers = (group for group in match.groups() if group is not None)
            index = tuple(map(int, numbers))
            if all(number < end for number, end in zip(index, ends[kind], strict=True)):
                by_kind[kind].add(index if kind == "h" else index[0])
    return AblatedParts(*(tuple(sorted(by_kind[kind])) for kind in ends))


def set_ablated_parts(parts: Iterable[Part]) -> None:
    """Callback: ablates exactly these `parts`; `undo` restores those that were ablated before."""
    old_code = ABLATED.read()
    code = ".".join(
        "".join(map(str, part[:2])) + "".join(f"-{number}" for number in part[2:])
        for part in sorted(parts, key=str)
    )
    if code != old_code:
        st.session_state[HISTORY] = [*st.session_state.get(HISTORY, ()), old_code][-FARTHEST:]
        ABLATED.take(code)


def can_undo() -> bool:
    return bool(st.session_state.get(HISTORY))


def undo() -> None:
    """Callback: restores the parts before the last change."""
    if history := st.session_state.get(HISTORY):
        ABLATED.take(history[-1])
        st.session_state[HISTORY] = history[:-1]


def restore_tokens_of_other_text(record: ForwardRecord) -> None:
    """Restores positions that were ablated in another text."""
    if ABLATED.is_of_other_text(record.tokens):
        remaining = ablated_parts(record)._replace(positions=())
        if remaining != ablated_parts(record):
            set_ablated_parts(remaining.parts)
