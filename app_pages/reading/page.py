"""Start here: a tour of the app, two lectures, and the papers section by section, with links to where the app shows it."""

import re
from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.input_controls import TEXT
from app_pages.controls.pages import FIRST, read_link
from app_pages.controls.reading_controls import LECTURES, OWN_TEXT, PAPER, PART, SECTION, TOUR, WIDTH
from app_pages.controls.tour_controls import STOPS, Stop, current_stop
from app_pages.toolkit.markdown import plain
from app_pages.tour.open_stop import SENTENCE, next_stop, open_stop, own_sentence, seen_at, why_left_out

GUIDE = Path(__file__).parents[2] / "docs" / "reading.md"
_LINK = re.compile(r'\[([^\]]+)\]\((/\S*) "([^"]+)"\)')

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
PICTURES = Path(__file__).parent / "pictures"  # made by `python -m benchmarks.tour_pictures`


class Paper(NamedTuple):
    """A paper of the guide: a paragraph about it, and its sections by title."""

    about: str  # the text before the first section
    sections: dict[str, str]  # text by title


def own_text() -> str:
    """The user's text; "" if it is the app's first example.

    It is kept in this page's address too, since links of the guide and the Back button load the app anew.
    """
    if TEXT.held():
        OWN_TEXT.take(own_sentence())
    elif text := OWN_TEXT.read():
        TEXT.take(text)
    return OWN_TEXT.read()


def draw_section(paper: Paper, text: str) -> None:
    """Draws one section of a paper or lecture, whose links open with the user's `text`."""
    section = SECTION.choose(paper.sections)
    with st.container(width=WIDTH):
        st.markdown(paper.about)
        st.header(section)
        st.markdown(opening_here(paper.sections[section], text), unsafe_allow_html=True)


def draw() -> None:
    text = own_text()
    part = PART.choose()
    if part == TOUR:
        draw_stops(text)
    else:
        guide = papers(GUIDE.read_text(encoding="utf-8"))
        lectures = guide.pop(LECTURES)
        if part == LECTURES:
            draw_section(lectures, text)
        else:
            controls, _ = bar("papers")
            with controls:
                title = PAPER.choose(guide)
            draw_section(guide[title], text)


def draw_stops(own_text: str) -> None:
    """Draws cards of all stops of the tour, and a button that begins or continues it. `own_text` is the user's text, or ""."""
    number = current_stop()
    with st.container(horizontal=True, vertical_alignment="center", key="tour_start"):
        following = 1 if number is None else next_stop(number, 1) or len(STOPS)
        st.button(
            "Start the tour" if number is None else f"Go on with stop {following}",
            type="primary",
            key="tour_begin",
            on_click=open_stop,
            args=(following,),
        )
        sentence = (
            f"The stops read your sentence: “{plain(own_text)}”"
            if own_text
            else f"The stops read “{SENTENCE}”, or the sentence that you type at the first."
        )
        st.markdown(f"About fifteen minutes. {sentence}", width="content")
    with st.container(horizontal=True, gap="small", key="tour_cards"):
        for index, stop in enumerate(STOPS, 1):
            _draw_card(index, stop, is_current=index == number)


def _draw_card(number: int, stop: Stop, *, is_current: bool) -> None:
    # Where the app does not know the theme yet, a light picture is right as well, if not as pretty.
    theme: Theme = "dark" if st.context.theme.type == "dark" else "light"
    with st.container(gap=None, key=f"tour_card{'_here' * is_current}_{number}"):
        st.html(
            f'{_picture(number, theme)}<h2>{number}. {escape(stop.title)}</h2><p class="seen">{escape(seen_at(number))}</p>'
        )
        st.button(
            f"Open {stop.page.title} →",
            type="tertiary",
            key=f"tour_open_{number}",
            on_click=open_stop,
            args=(number,),
            disabled=bool(why_left_out(number)),
        )


@cache
def _picture(number: int, theme: Theme) -> str:
    """HTML of the picture of a tour stop, "" if there is no file. It has no alternative text, since the title says what it
    shows.
    """
    if not (path := picture_file(number, theme)).is_file():
        return ""
    return f'<img alt="" src="data:image/webp;base64,{b64encode(path.read_bytes()).decode()}">'


def picture_file(number: int, theme: Theme) -> Path:
    """File of the picture of a stop, which is numbered from 1."""
    return PICTURES / f"stop_{number}_{theme}.webp"


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
        """The kind of input that the linked page reads instead of the user's text; "" if it reads that text."""
        if self.query.get("kind") == ["Digit"]:
            return "a digit"
        return "a sentence of its own" if "text" in self.query else ""

    def with_text(self, text: str) -> str:
        """Address of the link with `text` as its input, unless the linked page needs another kind of input."""
        if not text or self.needs:
            return self.address
        return f"{self.address}{'&' if self.query else '?'}text={quote(text)}"


def papers(guide: str) -> dict[str, Paper]:
    """Papers of the `guide` (Markdown) by title, with links as in the file."""
    by_title = {}
    for title, body in _parts(guide, "## ").items():
        intro = body.partition("\n### ")[0]
        by_title[title] = Paper(intro.strip(), _parts(body, "### "))
    return by_title


def links(guide: str) -> tuple[GuideLink, ...]:
    """All links of the `guide` into the app, each once."""
    return tuple(dict.fromkeys(GuideLink(address, promise) for _, address, promise in _LINK.findall(guide)))


def opening_here(guide: str, text: str = "") -> str:
    """The `guide` with its links as HTML that open in the same window; Markdown links would open a new one.

    A link opens its page with the user's `text`; if that page reads another input, a remark after the link says so, such as
    "(reads a digit)". Addresses are relative, since the app may be served under a path. Raises ValueError if a link opens nothing
    in the app.
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
