"""Blocked positions, or pairs of them, in the address: `masks_keys=1.4`, `masks_cells=0-3.2-1`.

No widget holds them, since clicks and boxes change them alike.
"""

import re
from collections.abc import Iterable

from app_pages import address

Place = tuple[int, ...]  # a key, or a query and a key


def read(code: str, n: int, axes: int) -> tuple[Place, ...]:
    """Those of `axes` numbers each that are all below `n`, in order; whatever else `code` holds is passed over."""
    one = re.compile("-".join(["([0-9]{1,6})"] * axes))
    found = {tuple(map(int, match.groups())) for match in map(one.fullmatch, code.split(".")) if match}
    return tuple(sorted(place for place in found if max(place) < n))


def write(places: Iterable[Place]) -> str:
    return ".".join("-".join(map(str, place)) for place in sorted(places))


def blocked(name: str, n: int, axes: int) -> tuple[Place, ...]:
    """What is blocked, among `n` positions."""
    return read(address.code(name), n, axes)


def block(name: str, places: Iterable[Place]) -> None:
    """For callbacks: these and no others from now on."""
    address.take_code(name, write(places))


def toggle(name: str, place: Place, n: int) -> None:
    """For callbacks: blocks what is free, and frees what is blocked."""
    block(name, set(blocked(name, n, len(place))) ^ {place})
