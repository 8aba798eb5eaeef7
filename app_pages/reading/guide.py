"""`docs/reading.md` in parts: a paper a `##`, in it a place a `###`, in which links lead to pages of the app.

A link is written `[text](/page?key=value "what stands there")`, without a page for the first one.
"""

import re
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

GUIDE = Path(__file__).parents[2] / "docs" / "reading.md"
_LINK = re.compile(r'\[([^\]]+)\]\((/\S*) "([^"]+)"\)')


class Link(NamedTuple):
    address: str  # as it is written
    promise: str  # what stands there

    @property
    def page(self) -> str:
        """The last part of the page's address, "" for the first page."""
        return urlsplit(self.address).path.removeprefix("/")

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.address).query)


class Paper(NamedTuple):
    about: str  # what stands before the first place
    places: dict[str, str]  # text by title


def papers(guide: str) -> dict[str, Paper]:
    """By title, with their links as they are written."""
    found = {}
    for title, body in _parts(guide, "## ").items():
        about = body.partition("\n### ")[0]
        found[title] = Paper(about.strip(), _parts(body, "### "))
    return found


def links(guide: str) -> tuple[Link, ...]:
    """Into the app, each once."""
    return tuple(dict.fromkeys(Link(address, promise) for _, address, promise in _LINK.findall(guide)))


def opening_here(text: str) -> str:
    """The text with links that open in the same window, which Streamlit grants to those in HTML alone.

    They are relative to the page that shows them: the app may be served below another address.
    """
    return _LINK.sub(
        lambda link: f'<a href=".{escape(link[2])}" target="_self" title="{escape(link[3])}">{link[1]}</a>',
        text,
    )


def _parts(text: str, heading: str) -> dict[str, str]:
    """What stands below each heading of that rank, by title."""
    _, *parts = re.split(rf"^{heading}", text, flags=re.MULTILINE)
    return {title.strip(): body.strip() for title, _, body in (part.partition("\n") for part in parts)}
