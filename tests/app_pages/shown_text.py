"""What a page says, as text."""

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
