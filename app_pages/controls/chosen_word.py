"""Which head and word are chosen in another input: of another text the same word, or else one that a rule finds without running
the encoder; of another kind of input what was chosen there before.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app_pages.controls.address import Box
from app_pages.controls.input_controls import OTHER_KIND
from app_pages.controls.map_controls import HEAD, LAYER, QUERY
from model.record import AttentionRecord, Positions, Role

_BY_KIND = "chosen_by_kind"  # in the session: layer, head and query of each kind of input
# The kinds of tokens of which the longest is chosen, the first kind that the text has.
_FIRST_ROLES: tuple[tuple[Role, ...], ...] = (("word",), ("unknown", "mask"), ("continuation",), ("special",))


def first_query(record: AttentionRecord) -> int:
    """The position whose row is shown at first: of a text the longest word, the first of several; of a picture the class
    token, if the answer is read from it, or else the patch in the middle.
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
    """Chooses the head and query that were chosen in this kind of input before, or else this `head` and the first query."""
    layer, index, query = st.session_state.get(_BY_KIND, {}).get(kind, (None, None, None))
    for control, value, otherwise in ((LAYER, layer, head[0]), (HEAD, index, head[1])):
        control.take(otherwise if value is None else value)
    is_there = isinstance(query, int) and query < len(record)
    take_word(QUERY, query if is_there else first_query(record))


def keep_query(record: AttentionRecord) -> None:
    """Keeps the word that is the query where the input of this run is another one than before; called before QUERY is drawn.

    If the `record` of the new input does not have it, the first query of that is chosen.
    """
    keep_word(QUERY, record, first_query(record))


def take_word(control: Box[Any], position: int) -> None:
    """Callback: chooses the token at this position of the input that is shown next, which may be another one than now."""
    control.take(position)
    st.session_state.pop(f"{control.key}_kept", None)


def keep_word(control: Box[Any], record: Positions, otherwise: Any) -> None:
    """Keeps the chosen token, of which the control holds the position, where the `record` is of another input than at the last
    call: at the same position, or at the same occurrence, or else where it is first. Without it, `otherwise` is chosen.

    It is moved in every run until the address has its new label: a run that is ended by another has told the browser nothing.
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
    token = tokens[position] if position < len(tokens) else None
    if position < len(new_tokens) and new_tokens[position] == token:
        return position
    same = [index for index, other in enumerate(new_tokens) if other == token]
    return next(iter(same[tokens[:position].count(token) :] or same), otherwise)
