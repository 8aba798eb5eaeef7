"""Names of encoders, as they occur in URLs and messages."""

import re
from dataclasses import dataclass

HUB = "hub:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The encoders of one source: the names by which they are opened, and a sentence for each that cannot be opened."""

    names: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def printable_name(name: str) -> str:
    """The name for use in a message: at most 80 characters, and only those that names may contain."""
    cleaned = re.sub(r"[^\w .,+=@()/:-]", "", name)
    return cleaned if len(cleaned) <= 80 else f"{cleaned[:80]}…"
