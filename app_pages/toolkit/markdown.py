"""How pages spell placements of the norm, words of the reader, and errors."""

import re

PLACEMENTS = {"pre": "pre-LN", "post": "post-LN", "deepnorm": "DeepNorm", "b2t": "B2T"}  # by norm_placement


def as_code(words: str) -> str:
    """As code, so that asterisks, dollar signs and brackets stay what they are."""
    return f"`{words.replace('`', 'ˋ')}`"


def plain(words: str) -> str:
    """A text escaped for Markdown, so that it is shown exactly as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#$:~|!])", r"\\\1", words)


def sentence(error: Exception) -> str:
    """What the error says, beginning with a capital; names in it keep theirs."""
    return f"{str(error)[:1].upper()}{str(error)[1:]}."
