"""Blocked positions, or pairs of them, in the address: `masks_keys=1.4`, `masks_cells=0-3.2-1`.

No widget holds them, since clicks and boxes change them alike, so they are written to the address here.
"""

import re
from collections.abc import Iterable

import streamlit as st

Place = tuple[int, ...]  # a key, or a query and a key


def read(code: str, n: int, axes: int) -> tuple[Place, ...]:
    """Those of `axes` numbers each that are all below `n`, in order; whatever else `code` holds is passed over."""
    one = re.compile("-".join(["([0-9]{1,6})"] * axes))
    found = {tuple(map(int, match.groups())) for match in map(one.fullmatch, code.split(".")) if match}
    return tuple(sorted(place for place in found if max(place) < n))


def write(places: Iterable[Place]) -> str:
    return ".".join("-".join(map(str, place)) for place in sorted(places))


def blocked(name: str, n: int, axes: int) -> tuple[Place, ...]:
    """What is blocked, among `n` positions. Where a change of the page has dropped it from the address, it is put back."""
    if name in st.query_params:
        st.session_state[name] = st.query_params[name]
    elif st.session_state.get(name):
        st.query_params[name] = st.session_state[name]
    return read(st.session_state.get(name, ""), n, axes)


def block(name: str, places: Iterable[Place]) -> None:
    """For callbacks: these and no others from now on."""
    st.session_state[name] = write(places)
    if st.session_state[name]:
        st.query_params[name] = st.session_state[name]
    else:
        st.query_params.pop(name, None)


def toggle(name: str, place: Place, n: int) -> None:
    """For callbacks: blocks what is free, and frees what is blocked."""
    block(name, set(blocked(name, n, len(place))) ^ {place})
