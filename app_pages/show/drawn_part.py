"""The part of a large map that is drawn: a browser takes a minute for two maps of 1,370 × 1,370 cells."""

import streamlit as st

MOST_DRAWN = 512  # positions
DRAWN = 128  # of more positions


def drawn_part(n: int, query: int) -> tuple[range, range] | None:
    """The queries and the keys of a map of `n` positions that are drawn, around the query; None for all."""
    if n <= MOST_DRAWN:
        return None
    start = min(max(query - DRAWN // 2, 0), n - DRAWN)
    return (range(start, start + DRAWN),) * 2


def say_part(part: tuple[range, range] | None, n: int, around: str = ", around the query") -> None:
    """Writes which of `n` positions a map shows, unless it shows all."""
    if part is not None:
        st.caption(f"Of {n:,} positions, {part[0].start} to {part[0].stop - 1} are drawn{around}.")
