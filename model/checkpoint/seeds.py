"""Checkpoints that differ in nothing but the seed of their training: NAME-seed0, NAME-seed1, ..."""

import re
from collections.abc import Iterable

_SEEDED = re.compile(r"(.+)-seed(\d+)")


def seed_of(name: str) -> tuple[str, int]:
    """The name of a checkpoint without its seed, and the seed; 0 where the name has none."""
    match = _SEEDED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def by_seed(names: Iterable[str]) -> dict[str, list[str]]:
    """Names of checkpoints by their name without seed, lowest seed first."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(seed_of(name)[0], []).append(name)
    return {family: sorted(members, key=seed_of) for family, members in families.items()}
