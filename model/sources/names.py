"""Names of encoders, as URLs and messages contain them."""

import re
from dataclasses import dataclass

HUB = "hub:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The encoders of one source: the names that open them, and a sentence for each that cannot be opened."""

    names: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def printable_name(name: str) -> str:
    """A name for use in a message: only characters that names may contain, and at most 80 of them."""
    cleaned = re.sub(r"[^\w .,+=@()/:-]", "", name)
    return cleaned if len(cleaned) <= 80 else f"{cleaned[:80]}…"
