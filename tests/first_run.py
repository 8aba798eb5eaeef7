"""The first run of the app at an address, which fails where the address names a key or an option that does not exist.

The app itself ignores such a key and shows its default, so a test with a misspelled key would test the default.
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

INPUT = {"kind", "text", "checkpoint"}  # kept in the address on pages that do not read them
FIGURE = "figure"  # the figure to which the browser scrolls


@dataclass(frozen=True)
class AddressReads:
    """Keys of the address that a run has read, and those of them whose value was refused."""

    keys: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)  # values that are no option, or outside the bounds


def run_at(app: AppTest, query: Mapping[str, str | list[str]], *, forgiven: Collection[str] = ()) -> AppTest:
    """Runs the app for the first time, with this query in its address, and returns it.

    Raises AssertionError if the keys that the page does not read, or whose value it refuses, are not exactly `forgiven`.
    """
    for key, value in query.items():
        app.query_params[key] = value
    with recorded_reads() as read:
        app.run()
    if "address_state" in app.session_state:
        for key, values in app.session_state["address_state"].first_values.items():  # as the browser does
            app.query_params.setdefault(key, values[0] if len(values) == 1 else values)
    if not app.exception:
        figure = query.get(FIGURE, "")
        prefixes = (figure,) if isinstance(figure, str) else tuple(figure)  # a list in the guide's links
        if any(key.startswith(prefixes) for key in container_keys(app.main)):
            read.keys.add(FIGURE)
        unread = query.keys() - read.keys - INPUT
        wrong = unread | (query.keys() & read.refused)
        assert wrong == set(forgiven), f"of {dict(query)}, the page cannot read {sorted(wrong)}"
    return app


def container_keys(block: Block) -> Iterator[str]:
    """The keys of all containers and browser components in the block, without the prefix that Streamlit adds."""
    for child in block.children.values():
        key = re.fullmatch(r"\$\$ID-[0-9a-f]+-(.+)", getattr(child.proto, "id", ""))
        if key and (isinstance(child, Block) or child.type == "bidi_component"):
            yield key[1]
        if isinstance(child, Block):
            yield from container_keys(child)


@contextmanager
def recorded_reads() -> Iterator[AddressReads]:
    """Records, inside the `with`, what widgets and `address.code` read of the address."""
    read = AddressReads()
    seed, read_code = SessionState._seed_widget_from_url, address.Code.read

    def seeded(
        state: SessionState, metadata: WidgetMetadata, key: str, widget_id: str, value: str | list[str]
    ) -> bool:
        read.keys.add(key)
        is_taken = seed(state, metadata, key, widget_id, value)
        # a refused value leaves the default, and so does a value that is the default
        chosen = state[key] if is_taken else metadata.deserializer(None)
        if not _is_written_as(metadata, chosen, value):
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


def _is_written_as(metadata: WidgetMetadata, chosen: object, value: str | list[str]) -> bool:
    """Whether the widget writes `chosen` into the address as `value`. False if nothing is chosen."""
    try:
        return chosen is not None and metadata.serializer(chosen) == parse_url_param(
            value, metadata.value_type
        )
    except ValueError:
        return False
