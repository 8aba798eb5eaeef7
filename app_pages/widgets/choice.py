"""One of a few, all of them in sight."""

from collections.abc import Iterable
from typing import Any

import streamlit as st


def choice(label: str, options: Iterable[str], *, key: str, **appearance: Any) -> str:
    """A row of options, the first chosen to begin with; the address knows the choice as `key`."""
    options = list(options)
    chosen = st.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        key=key,
        bind="query-params",
        persist_state="session",
        **appearance,
    )
    return chosen or options[0]  # an address with `key=` and no value empties even what is required
