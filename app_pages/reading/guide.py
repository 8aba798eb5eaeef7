"""`docs/reading.md` split into papers (`##`) and their sections (`###`), with links to pages of the app.

A link is written `[text](/page?key=value "what it shows")`; the first page has no name in it.
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
    """A link of the guide to a page of the app."""

    address: str  # as it is written
    promise: str  # what stands there

    @property
    def page(self) -> str:
        """Name of the page in the link, "" for the first page."""
        return urlsplit(self.address).path.removeprefix("/")

    @property
    def query(self) -> dict[str, list[str]]:
        """Parameters of the link, by key."""
        return parse_qs(urlsplit(self.address).query)

    @property
    def needs(self) -> str:
        """What the linked page reads instead of the user's sentence; "" if it reads that sentence."""
        if self.query.get("kind") == ["Digit"]:
            return "a digit"
        return "a sentence of its own" if "text" in self.query else ""

    def with_text(self, text: str) -> str:
        """Address of the link with `text` as its input, unless the link needs another kind of input."""
        if not text or self.needs:
            return self.address
        return f"{self.address}{'&' if self.query else '?'}text={quote(text)}"


class Paper(NamedTuple):
    """A paper of the guide, in sections."""

    about: str  # the text before the first section
    sections: dict[str, str]  # text by title


def papers(guide: str) -> dict[str, Paper]:
    """Papers by title, with their links as in the file."""
    by_title = {}
    for title, body in _parts(guide, "## ").items():
        intro = body.partition("\n### ")[0]
        by_title[title] = Paper(intro.strip(), _parts(body, "### "))
    return by_title


def links(guide: str) -> tuple[GuideLink, ...]:
    """All links into the app, without repetition."""
    return tuple(dict.fromkeys(GuideLink(address, promise) for _, address, promise in _LINK.findall(guide)))


def opening_here(guide: str, text: str = "") -> str:
    """The guide with its links as HTML, which open in the same window; Markdown links would open a new one.

    A link opens its page with the user's `text`; if the page reads another input, a remark after the link names it, such as
    "(reads a digit)". Addresses are relative, since the app may be served below another address. Raises ValueError if a
    link opens nothing in the app.
    """

    def opening(match: re.Match[str]) -> str:
        link = GuideLink(match[2], match[3])
        read_link(link.page or FIRST.name, link.query)
        remark = f" (reads {link.needs})" if link.needs else ""
        address = escape(link.with_text(text))
        return f'<a href=".{address}" target="_self" title="{escape(link.promise)}">{match[1]}</a>{remark}'

    return _LINK.sub(opening, guide)


def _parts(text: str, heading: str) -> dict[str, str]:
    """Text below each `heading` ("## " or "### "), by title."""
    _, *parts = re.split(rf"^{heading}", text, flags=re.MULTILINE)
    return {title.strip(): body.strip() for title, _, body in (part.partition("\n") for part in parts)}
