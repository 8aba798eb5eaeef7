"""The settings of rotary positions in a `config.json`, by the names that older and newer versions of `transformers` use."""

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

from .tensor_map import Layout

LARGEST_BASE = 1e12


def rotary_base(
    layout: Layout, default: float, name: str = "rope_theta", layer_type: str | None = None
) -> float:
    """The base of the frequencies, in config.json's `rope_parameters` or, in older files, under `name`.

    With a `layer_type`, `rope_parameters` holds an object for each type of layer. Raises ValueError for frequencies that are
    not the plain ones, and for a base that is no number of 1 or more.
    """
    parameters = _object(layout.values, "rope_parameters")
    scaling = _object(layout.values, "rope_scaling")
    if layer_type is not None:
        parameters = _object(parameters, layer_type) | scaling
    elif scaling:
        parameters = scaling
    for key in ("rope_type", "type"):  # today's name and the older one
        if (kind := parameters.get(key, "default")) != "default":
            raise ValueError(
                f"its rotary positions have rope_type {shortened(kind)}, but only 'default' is supported"
            )
    base = parameters.get("rope_theta", layout.values.get(name, default))
    is_number = isinstance(base, int | float) and not isinstance(base, bool)
    if not is_number or not 1 <= base <= LARGEST_BASE:
        raise ValueError(f"config.json has {name} {shortened(base)}, which must be a number from 1 to 10^12")
    return float(base)


def head_width(layout: Layout, d_model: int, n_heads: int) -> int:
    """The width of each head: `head_dim` in config.json, else `d_model` / `n_heads`.

    Raises ValueError if it is odd, or if the heads have no such width.
    """
    given = layout.values.get("head_dim")
    width = layout.widths(d_model, n_heads).d_head if given is None else layout.whole_number("head_dim")
    if width % 2 or not width:
        raise ValueError(f"rotary positions turn pairs of numbers, but each head is {width} wide")
    return width


def _object(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object `name`, {} if there is none. Raises ValueError for anything else."""
    value = values.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"config.json has {name} {shortened(value)}, which must be an object")
    return value
