"""Names of encoders, as they stand in addresses and sentences."""

import re
from dataclasses import dataclass

HUB = "hub:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a place holds: names, by what stands in the address, and what is not among them, each in one sentence."""

    names: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def as_shown(name: str) -> str:
    """For a sentence: what cannot be part of a name here is left out, and what is long is cut."""
    shown = re.sub(r"[^\w .,+=@()/:-]", "", name)
    return shown if len(shown) <= 80 else f"{shown[:80]}…"
