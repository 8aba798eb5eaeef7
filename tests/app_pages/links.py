"""Whether a link leads where it says: to a view that takes all that its address holds."""

import re
from collections.abc import Iterator, Mapping

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

FIGURE = "figure"  # in an address: on which figure the page opens


def passed_over(app: AppTest, query: Mapping[str, list[str]]) -> str | None:
    """What of the address the page did not take, None where it took all."""
    for key, values in query.items():
        if key == FIGURE:
            if not any(each.startswith(values[0]) for each in container_keys(app.main)):
                return f"the page has no figure {values[0]}"
            continue
        if key not in app.session_state:
            return f"the page has no {key}"
        held = app.session_state[key]
        if values != [spelled(each) for each in (held if isinstance(held, list) else [held])]:
            return f"{key} holds {held}"
    return None


def container_keys(block: Block) -> Iterator[str]:
    """Of all containers in it; what Streamlit writes before a key is left out."""
    for child in block.children.values():
        if isinstance(child, Block):
            if key := re.fullmatch(r"\$\$ID-[0-9a-f]+-(.+)", getattr(child.proto, "id", "")):
                yield key[1]
            yield from container_keys(child)


def spelled(value: object) -> str:
    """As addresses have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
