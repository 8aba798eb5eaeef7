"""Names of encoders for URLs and messages, and groups of checkpoints that differ only in the seed of their training."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

HUB = "hub:"
_SEEDED = re.compile(r"(.+)-seed(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The encoders of one source: the names by which they are opened, and a sentence for each that cannot be opened."""

    names: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def printable_name(name: str) -> str:
    """The name for use in a message: at most 80 characters, and only those that names may contain."""
    cleaned = re.sub(r"[^\w .,+=@()/:-]", "", name)
    return cleaned if len(cleaned) <= 80 else f"{cleaned[:80]}…"


def split_seed(name: str) -> tuple[str, int]:
    """A checkpoint's name without the suffix -seedN, and the seed N; 0 if there is no suffix."""
    match = _SEEDED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def group_by_seed(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of checkpoints, grouped under their name without seed and sorted by seed."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(split_seed(name)[0], []).append(name)
    return {family: sorted(members, key=split_seed) for family, members in families.items()}
