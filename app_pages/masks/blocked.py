"""Blocked keys and cells, codes in the address: `masks_keys=1.4`, `masks_cells=0-3.2-1`.

No widget holds them, since clicks and boxes change them alike.
"""

import re
from collections.abc import Iterable

from app_pages.controls import address

KEYS, CELLS = "masks_keys", "masks_cells"
Blocked = tuple[int, ...]  # a key, or the query and the key of a cell


def blocked(code: str, n: int) -> tuple[Blocked, ...]:
    """What the address holds as `code`, in order; what cannot be read, or is not among `n` positions, is passed over."""
    one = re.compile("([0-9]{1,6})" if code == KEYS else "([0-9]{1,6})-([0-9]{1,6})")
    found = {
        tuple(map(int, each.groups())) for each in map(one.fullmatch, address.code(code).split(".")) if each
    }
    return tuple(sorted(each for each in found if max(each) < n))


def block(code: str, each: Iterable[Blocked]) -> None:
    """For callbacks: these and no others from now on."""
    address.take_code(code, ".".join("-".join(map(str, one)) for one in sorted(each)))


def toggle(code: str, one: Blocked, n: int) -> None:
    """For callbacks: blocks what is free, and frees what is blocked."""
    block(code, set(blocked(code, n)) ^ {one})
