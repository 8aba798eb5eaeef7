"""Text for pages: names of norm placements, escaped user input, and error messages."""

import re

PLACEMENTS = {"pre": "pre-LN", "post": "post-LN", "deepnorm": "DeepNorm", "b2t": "B2T"}  # by norm_placement


def as_code(words: str) -> str:
    """Text as inline code, so that Markdown leaves asterisks, dollar signs and brackets as they are."""
    return f"`{words.replace('`', 'ˋ')}`"


def plain(words: str) -> str:
    """Text escaped for Markdown, so that it is shown exactly as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#$:~|!])", r"\\\1", words)


def sentence(error: Exception) -> str:
    """An error's message as a sentence, with a capital letter and a full stop."""
    return f"{str(error)[:1].upper()}{str(error)[1:]}."
