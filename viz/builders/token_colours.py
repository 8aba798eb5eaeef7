"""Colours of tokens in the browser, by their weights, as a figure has them."""

from pathlib import Path


def with_token_colours(script: Path) -> str:
    """The text of `token_colours.js` and of the script that calls its functions, in one: Streamlit's components and offline pages
    take a single script.
    """
    shared = Path(__file__).with_suffix(".js")
    return "".join(path.read_text(encoding="utf-8") for path in (shared, script))
