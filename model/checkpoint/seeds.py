"""Names of checkpoints that differ only in the seed of their training: NAME-seed0, NAME-seed1, ..."""

import re
from collections.abc import Iterable

_SEEDED = re.compile(r"(.+)-seed(\d+)")


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
