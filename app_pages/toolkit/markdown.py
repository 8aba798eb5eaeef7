"""Text for pages: names of norm placements, escaped user input, counts, lists and error messages."""

import re
from collections.abc import Iterable, Sequence

PLACEMENTS = {"pre": "pre-LN", "post": "post-LN", "deepnorm": "DeepNorm", "b2t": "B2T"}  # by norm_placement


def as_code(words: str) -> str:
    """Text as inline code, so that Markdown leaves asterisks, dollar signs and brackets as they are."""
    return f"`{words.replace('`', 'ˋ')}`"


def plain(words: str) -> str:
    """Text escaped for Markdown, so that it is shown exactly as it is."""
    return re.sub(r"([\\`*_{}\[\]()<>#$:~|!])", r"\\\1", words)


def counted(n: int, noun: str) -> str:
    """The number `n` with the `noun`, which is given in the singular, such as “1 layer” or “6 layers”."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def first_names(names: Sequence[str], max_names: int) -> str:
    """The first `max_names` names of a list, separated by commas, with an ellipsis if there are more."""
    return ", ".join(names[:max_names]) + (", …" if len(names) > max_names else "")


def sentence(words: object) -> str:
    """A text, such as an error message, as a sentence with a capital letter and a full stop."""
    return f"{str(words)[:1].upper()}{str(words)[1:]}."


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; headings and cells are Markdown, too."""
    lines = (headings, ["---"] * len(headings), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
