"""`docs/reading.md` in parts: a paper under each `##`, a section of it under each `###`, with links to pages of the app.

A link is written `[text](/page?key=value "what stands there")`, without a page for the first one.
"""

import re
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from app_pages.controls.pages import FIRST, read_link

GUIDE = Path(__file__).parents[2] / "docs" / "reading.md"
_LINK = re.compile(r'\[([^\]]+)\]\((/\S*) "([^"]+)"\)')


class GuideLink(NamedTuple):
    """A link into the app."""

    address: str  # as it is written
    promise: str  # what stands there

    @property
    def page(self) -> str:
        """The last part of the page's address, "" for the first page."""
        return urlsplit(self.address).path.removeprefix("/")

    @property
    def query(self) -> dict[str, list[str]]:
        """What the address holds, by key."""
        return parse_qs(urlsplit(self.address).query)

    @property
    def needs(self) -> str:
        """What its page reads instead of the reader's own sentence, "" where it reads that."""
        if self.query.get("kind") == ["Digit"]:
            return "a digit"
        return "a sentence of its own" if "text" in self.query else ""

    def with_text(self, text: str) -> str:
        """Its address, which opens with that text unless it needs something else."""
        if not text or self.needs:
            return self.address
        return f"{self.address}{'&' if self.query else '?'}text={quote(text)}"


class Paper(NamedTuple):
    """A paper of the guide."""

    about: str  # the text before the first section
    sections: dict[str, str]  # text by title


def papers(guide: str) -> dict[str, Paper]:
    """The papers by title, with their links as they are written."""
    by_title = {}
    for title, body in _parts(guide, "## ").items():
        about = body.partition("\n### ")[0]
        by_title[title] = Paper(about.strip(), _parts(body, "### "))
    return by_title


def links(guide: str) -> tuple[GuideLink, ...]:
    """All links into the app, each once."""
    return tuple(dict.fromkeys(GuideLink(address, promise) for _, address, promise in _LINK.findall(guide)))


def opening_here(guide: str, text: str = "") -> str:
    """The guide with links that open in the same window, which Streamlit grants to those in HTML alone.

    They open with the reader's `text`, or say beside them what they need instead. They are relative to the page that
    shows them: the app may be served below another address. Raises ValueError where a link opens nothing that the app has.
    """

    def opening(written: re.Match[str]) -> str:
        link = GuideLink(written[2], written[3])
        read_link(link.page or FIRST.name, link.query)
        beside = f" (reads {link.needs})" if link.needs else ""
        address = escape(link.with_text(text))
        return f'<a href=".{address}" target="_self" title="{escape(link.promise)}">{written[1]}</a>{beside}'

    return _LINK.sub(opening, guide)


def _parts(text: str, heading: str) -> dict[str, str]:
    """The text below each `heading`, "## " or "### ", by title."""
    _, *parts = re.split(rf"^{heading}", text, flags=re.MULTILINE)
    return {title.strip(): body.strip() for title, _, body in (part.partition("\n") for part in parts)}
