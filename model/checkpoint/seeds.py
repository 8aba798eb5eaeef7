"""Checkpoints that differ in nothing but the seed of their training: NAME-seed0, NAME-seed1, ..."""

import re
from collections.abc import Iterable

_SEEDED = re.compile(r"(.+)-seed(\d+)")


def seed_of(name: str) -> tuple[str, int]:
    """What a checkpoint is called without its seed, and the seed, 0 where the name says none."""
    parts = _SEEDED.fullmatch(name)
    return (parts[1], int(parts[2])) if parts else (name, 0)


def by_seed(names: Iterable[str]) -> dict[str, list[str]]:
    """The checkpoints of each name without seed, lowest seed first; the names in the order in which they come."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(seed_of(name)[0], []).append(name)
    return {family: sorted(members, key=seed_of) for family, members in families.items()}
