"""Colours of tokens in the browser, by their weights, as a figure has them."""

from pathlib import Path


def with_token_colours(script: Path) -> str:
    """The text of a script, after that of `token_colours.js`, whose functions it calls: Streamlit's components and offline
    pages take one script.
    """
    shared = Path(__file__).with_suffix(".js")
    return "".join(path.read_text(encoding="utf-8") for path in (shared, script))
