"""What a page says, as text."""

import re

from streamlit.testing.v1 import AppTest

HEADLINE = '<p class="headline"'


def headline(app: AppTest) -> str:
    """The one sentence that says how the answer changes."""
    assert not app.exception
    (sentence,) = (block for block in blocks(app) if block.startswith(HEADLINE))
    return sentence


def html(app: AppTest) -> str:
    return "\n".join(blocks(app))


def blocks(app: AppTest) -> list[str]:
    """The HTML that the page writes, block by block."""
    assert not app.exception
    return [block.proto.body for block in app.get("html")]


def joined_captions(app: AppTest) -> str:
    assert not app.exception
    return " ".join(caption.value for caption in app.caption)


def shown_text(app: AppTest) -> str:
    """The Markdown, captions and formulas of the page, block by block."""
    assert not app.exception
    return "\n".join(block.value for block in (*app.markdown, *app.caption, *app.latex))


def page_text(app: AppTest) -> str:
    """All that the page writes, as it is read: headings, Markdown without its escapes, captions, messages and HTML."""
    kinds = (app.header, app.markdown, app.caption, app.info, app.warning, app.error)
    written = [block.value for kind in kinds for block in kind]
    return re.sub(r"\\([\W_])", r"\1", "\n".join([*written, *blocks(app)])).replace("\N{THIN SPACE}", " ")


def explanations(app: AppTest) -> str:
    """What stands behind the question marks of the page's texts, without escapes."""
    assert not app.exception
    helps = "\n".join(block.help or "" for block in (*app.markdown, *app.caption))
    return re.sub(r"\\([\W_])", r"\1", helps)
