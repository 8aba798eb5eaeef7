"""Addresses in tests: what a test opens must be there, or it would test what the page shows without it.

The app itself forgives a key or an option that does not exist: it shows what it begins with.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.query_params import parse_url_param
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from app_pages.controls import address

ALONG = {"kind", "text", "checkpoint"}  # the input, which an address takes along to pages that do not read it
FIGURE = "figure"  # at which figure the browser opens the page


@dataclass(frozen=True)
class Read:
    """What a run has read of an address, by key."""

    keys: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)  # values that are no option, or outside the bounds


def run_at(app: AppTest, query: Mapping[str, str | list[str]], *, forgiven: Collection[str] = ()) -> AppTest:
    """Runs the app for the first time, at this address.

    Raises AssertionError where the page does not read one of its keys, or refuses the value; of those in `forgiven` it must.
    """
    for key, value in query.items():
        app.query_params[key] = value
    with reading() as read:
        app.run()
    if not app.exception:
        figure = query.get(FIGURE, "")
        beginnings = (figure,) if isinstance(figure, str) else tuple(figure)  # of the guide's links a list
        if any(key.startswith(beginnings) for key in container_keys(app.main)):
            read.keys.add(FIGURE)
        unread = query.keys() - read.keys - ALONG
        wrong = unread | (query.keys() & read.refused)
        assert wrong == set(forgiven), f"of {dict(query)}, the page cannot read {sorted(wrong)}"
    return app


def container_keys(block: Block) -> Iterator[str]:
    """Of all containers in it; what Streamlit writes before a key is left out."""
    for child in block.children.values():
        if isinstance(child, Block):
            if key := re.fullmatch(r"\$\$ID-[0-9a-f]+-(.+)", getattr(child.proto, "id", "")):
                yield key[1]
            yield from container_keys(child)


@contextmanager
def reading() -> Iterator[Read]:
    """Inside the `with`: what is read of addresses, by widgets and as codes."""
    read = Read()
    seed, read_code = SessionState._seed_widget_from_url, address.Code.read

    def seeded(
        state: SessionState, metadata: WidgetMetadata, key: str, widget_id: str, value: str | list[str]
    ) -> bool:
        read.keys.add(key)
        is_taken = seed(state, metadata, key, widget_id, value)
        # what is refused leaves what the widget begins with, and so does what begins anyway
        chosen = state[key] if is_taken else metadata.deserializer(None)
        if not _is_in_words(metadata, chosen, value):
            read.refused.add(key)
        return is_taken

    def code_read(code: address.Code) -> str:
        read.keys.add(code.key)
        return read_code(code)

    with (
        patch.object(SessionState, "_seed_widget_from_url", seeded),
        patch.object(address.Code, "read", code_read),
    ):
        yield read


def _is_in_words(metadata: WidgetMetadata, chosen: object, value: str | list[str]) -> bool:
    """Whether the widget would write what is `chosen` into the address as `value`; never where nothing is chosen."""
    try:
        return chosen is not None and metadata.serializer(chosen) == parse_url_param(
            value, metadata.value_type
        )
    except ValueError:
        return False
