"""How often the rule holds over a data set, where that was measured."""

from app_pages.cache import Checkpoint


def held_over_data(_name: Checkpoint, _lens: str, _head: tuple[int, int] | None) -> tuple[float, int] | None:
    """The share of the examples for which a map may be read as an explanation, and how many there are.

    None where it was not measured for this encoder, lens and head.
    """
    return None
