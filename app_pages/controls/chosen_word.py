"""Keeps the chosen head and word when the input changes: in another text the same word, or else one chosen by a rule that does
not run the encoder; in another kind of input the choice that was last made there.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app_pages.controls.address import SelectBox
from app_pages.controls.input_controls import OTHER_KIND
from app_pages.controls.map_controls import HEAD, LAYER, QUERY
from model.record import AttentionRecord, Positions, Role

_BY_KIND = "chosen_by_kind"  # in the session: layer, head and query of each kind of input
# The kinds of tokens of which the longest is chosen, the first kind that the text has.
_FIRST_ROLES: tuple[tuple[Role, ...], ...] = (("word",), ("unknown", "mask"), ("continuation",), ("special",))


def first_query(record: AttentionRecord) -> int:
    """The position that is the query by default: in a text the longest word, the first if several are as long; in a picture the
    class token if the answer is read from it, or else the patch in the middle.
    """
    if record.patch_grid is not None:
        patches = record.patches
        return 0 if record.has_class_token else (patches.start + patches.stop) // 2
    for roles in _FIRST_ROLES:
        if positions := record.positions_with_role(*roles):
            return max(positions, key=lambda position: len(record.tokens[position]))
    return 0


def remember_choice(kind: str) -> None:
    """Remembers the head and query of this kind of input; called in each run, before they are drawn."""
    if not st.session_state.get(OTHER_KIND):
        chosen = LAYER.held(), HEAD.held(), QUERY.held()
        st.session_state.setdefault(_BY_KIND, {})[kind] = chosen


def take_remembered(kind: str, record: AttentionRecord, head: tuple[int, int]) -> None:
    """Chooses the head and query that were last chosen in this kind of input, or else `head` and the first query of `record`."""
    layer, index, query = st.session_state.get(_BY_KIND, {}).get(kind, (None, None, None))
    for control, value, otherwise in ((LAYER, layer, head[0]), (HEAD, index, head[1])):
        control.take(otherwise if value is None else value)
    is_there = isinstance(query, int) and query < len(record)
    take_word(QUERY, query if is_there else first_query(record))


def keep_query(record: AttentionRecord) -> None:
    """Keeps the query's word when the input has changed since the last run: finds it in the new `record`, or else chooses that
    record's first query. Called before QUERY is drawn.
    """
    keep_word(QUERY, record, first_query(record))


def take_word(control: SelectBox[Any], position: int) -> None:
    """Callback: chooses the token at this `position` of the input of the next run, which may differ from the present input."""
    control.take(position)
    st.session_state.pop(f"{control.key}_kept", None)


def keep_word(control: SelectBox[Any], record: Positions, otherwise: Any) -> None:
    """Keeps the token whose position `control` holds when the input of `record` differs from that of the last call: the same
    token at the same position, or else its same occurrence, or else its first. If the new input lacks it, chooses `otherwise`.

    This is repeated in every run until the address has the new label: a run that another run has ended did not reach the browser.
    """
    session, kept_key = st.session_state, f"{control.key}_kept"
    now = record.tokens, record.labels
    before, position = session.get(kept_key, (now, None))
    position = control.held() if position is None else position
    if before != now and isinstance(position, int):
        tokens, labels = before
        moved = _same_word(tokens, position, record.tokens, otherwise)
        written = st.query_params.get(control.key)
        is_new = written in record.labels and written not in labels[position : position + 1]
        if not is_new and (not isinstance(moved, int) or written != record.labels[moved]):
            session[kept_key] = before, position
            control.take(moved)
            return
    session[kept_key] = now, None


def _same_word(tokens: Sequence[str], position: int, new_tokens: Sequence[str], otherwise: Any) -> Any:
    """Position in `new_tokens` of the word at `position` in `tokens`, or `otherwise`."""
    token = tokens[position] if position < len(tokens) else None
    if position < len(new_tokens) and new_tokens[position] == token:
        return position
    same = [index for index, other in enumerate(new_tokens) if other == token]
    return next(iter(same[tokens[:position].count(token) :] or same), otherwise)
