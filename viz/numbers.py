"""Numbers as text and ticks, alike in all figures."""

import math
from collections.abc import Iterable


def written(value: float, form: str, *, otherwise: str = "–") -> str:
    """In the given format with a real minus sign; `otherwise` where it is not finite. What rounds to 0 has no sign."""
    if not math.isfinite(value):
        return otherwise
    text = f"{value:{form}}".replace("-", "−")
    return text.lstrip("+−") if float(f"{value:{form}}") == 0 else text


def short(value: float) -> str:
    """Two decimals, or three digits where it is large."""
    return written(value, ".3g" if abs(value) >= 1000 else ".2f")


def powers_of_ten(values: Iterable[float]) -> list[float]:
    """Ticks of a logarithmic axis, from below the smallest of the values, all above 0, to above the largest."""
    values = list(values)
    if not values:
        return []
    return [
        10.0**k for k in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    ]
