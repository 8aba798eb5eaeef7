"""Names of encoders, as they stand in addresses and sentences."""

import re
from dataclasses import dataclass

HUB = "hub:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The encoders of one source: their names in addresses, and a sentence for each that is not listed."""

    names: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def as_shown(name: str) -> str:
    """A name for use in a sentence: without characters that no name here has, and cut to 80 characters."""
    shown = re.sub(r"[^\w .,+=@()/:-]", "", name)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"
