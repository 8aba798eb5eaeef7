"""Numbers as text: with a true minus sign, a thin space before %, and powers of ten as a × 10ⁿ; in small cells with
at most four digits and a sign.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

THIN = "\u2009"  # a space
MOST_DIGITS = 9
THIN_PERCENT = f"replace(datum.label, '%', '{THIN}%')"  # the labelExpr of an axis in Vega's format "%"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SMALLEST = 0.095  # of the largest number: below it, two decimals do not show two digits
_UNITS = {0: "", -3: "in the cells: thousandths (10⁻³)", -6: "in the cells: millionths (10⁻⁶)"}


def format_number(value: float, spec: str, *, otherwise: str = "–") -> str:
    """A number as text in Python's format `spec`, or `otherwise` if it is not finite.

    A number that rounds to 0 is written without a sign and without a power of ten.
    """
    if not math.isfinite(value):
        return otherwise
    digits, power = _digits_and_exponent(value, spec)
    text = digits.replace("-", "−").replace("%", f"{THIN}%")
    return f"{text} × 10{str(power).translate(_RAISED)}" if power else text


def fall_in_words(fall: float, spec: str, *, otherwise: str = "–") -> str:
    """A fall in words, such as "falls by 0.26" or, below 0, "rises by 1.06"; the size is in Python's format `spec`."""
    size = format_number(abs(fall), spec, otherwise=otherwise)
    if size == otherwise:
        return size
    if not size.strip("0."):
        return "stays as it is"
    return f"{'rises' if fall < 0 else 'falls'} by {size}"


def digits_that_add_up(*sums: tuple[Sequence[float], float]) -> int:
    """The fewest digits behind the point, 4 to 8, with which all `sums` (parts, total) add up as they are written."""
    return next(
        (
            n
            for n in range(4, 8)
            if all(
                abs(sum(round(part, n) for part in parts) - round(total, n)) < 10.0**-n / 2
                for parts, total in sums
            )
        ),
        8,
    )


def format_tex(value: float, spec: str = ".3g") -> str:
    """A number as LaTeX for `$...$`; a power of ten is put in braces, so that no line breaks within it."""
    digits, power = _digits_and_exponent(value, spec)
    return rf"{{{digits} \times 10^{{{power}}}}}" if power else digits


def percent(share: float, digits: int = 1, *, brief: bool = False) -> str:
    """A share from 0 to 1 as a percentage with this number of decimals (`digits`). One that only rounds to 0 % or
    100 % is given as "under 0.1 %" or "over 99.9 %", `brief` as "<0.1 %".
    """
    step = 10 ** -(digits + 2)
    below, above = ("<", ">") if brief else ("under ", "over ")
    if 0 < share < step / 2:
        return below + format_number(step, f".{digits}%")
    if 1 - step / 2 <= share < 1:
        return above + format_number(1 - step, f".{digits}%")
    return format_number(share, f".{digits}%")


def share_below_one(values: np.ndarray, index: int) -> float:
    """`values[index]`, where `values` sum to 1: below 1 if any other value is above 0, even where single precision
    rounds it to 1.
    """
    largest = float(np.nextafter(1, 0)) if np.count_nonzero(values) > 1 else 1.0
    return min(float(values[index]), largest)


def format_distinct(first: float, second: float, spec: str) -> tuple[str, str]:
    """Two numbers as text in Python's format `spec`, such as ".1g", with as many more digits as it takes to make the
    texts differ.
    """
    sign, rest = spec.split(".")
    least, kind = int(rest[:-1]), rest[-1]

    def written(value: float, digits: int) -> str:
        return percent(value, digits) if kind == "%" else format_number(value, f"{sign}.{digits}{kind}")

    pairs = [(written(first, digits), written(second, digits)) for digits in range(least, MOST_DIGITS + 1)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def percent_with_error(share: float, error: float, digits: int = 1) -> str:
    """A share from 0 to 1 and its standard error as percentages, "86.6 ± 1.2 %", with more digits if the error would
    round to 0.
    """
    while error and not round(100 * error, digits) and digits < MOST_DIGITS:
        digits += 1
    return f"{format_number(100 * share, f'.{digits}f')} ± {format_number(error, f'.{digits}%')}"


def format_short(value: float) -> str:
    """A number with two decimals, or with three digits from 1000 on."""
    return format_number(value, ".3g" if abs(value) >= 1000 else ".2f")


def format_weight(weight: float) -> str:
    """A weight with two decimals and without the zero before the point: .25 for 0.25, 1 for 1.00, and "" for 0.00."""
    text = f"{weight:.2f}"
    return {"0.00": "", "1.00": "1"}.get(text, text.removeprefix("0"))


def format_count(count: int) -> str:
    """A whole number as text, from 1000 on with three digits and a unit (k, M, G or T): 37858304 is "37.9 M"."""
    for factor, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= 0.9995 * factor:
            return f"{count / factor:.3g} {unit}"
    return str(count)


def powers_of_ten(values: Iterable[float]) -> list[float]:
    """Ticks of a logarithmic axis: the powers of ten from just below the smallest to just above the largest of the
    positive `values`.
    """
    values = list(values)
    if not values:
        return []
    return [
        10.0**k for k in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    ]


def one_two_five_ticks(values: Iterable[float]) -> list[float]:
    """Ticks of a short logarithmic axis: those of 0.1, 0.2, 0.5, 1, 2, ... from just below the smallest to just above
    the largest of the positive `values`.
    """
    values = list(values)
    if not values:
        return []
    ticks = [digit * power for power in powers_of_ten(values) for digit in (1, 2, 5)]
    first_index = max((index for index, tick in enumerate(ticks) if tick <= min(values)), default=0)
    last_index = min(
        (index for index, tick in enumerate(ticks) if tick >= max(values)), default=len(ticks) - 1
    )
    return ticks[first_index : last_index + 1]


def head_name(layer: int, head: int) -> str:
    """The name of a head, as in "L0 H3"."""
    return f"L{layer} H{head}"


_STAGES = {"embed": "embedding", "mid": "after attention", "post": "after feed-forward"}


def stage_names(stages: Iterable[str]) -> list[str]:
    """Names of the stages of a residual stream in words: "L0 mid" becomes "L0 after attention"; other names stay as
    they are.
    """
    parts = [stage.rpartition(" ") for stage in stages]
    return [layer + space + _STAGES.get(point, point) for layer, space, point in parts]


def _digits_and_exponent(value: float, spec: str) -> tuple[str, int]:
    """The digits of a number in the format `spec`, without a sign if all are 0, and its exponent of ten (0 if the
    format writes none).
    """
    digits, _, power = f"{value:{spec}}".partition("e")
    digits = digits.removesuffix(".")  # which "#" leaves behind a whole number
    if not any(digit in digits for digit in "123456789"):
        return digits.lstrip("+-"), 0
    return digits, int(power or 0)


class CellNumbers(NamedTuple):
    """The numbers of a grid of cells as text, one for each value in C order."""

    written: list[str]  # short enough for a cell, in the `unit`
    exact: list[str]  # with four digits, for the tooltip
    unit: str  # a line for the title; "" if the cells hold the numbers themselves


def cell_numbers(
    values: np.ndarray,
    largest: float,
    *,
    signed: bool,
    digits: int = 2,
    missing: str = "no partner",
    detail: float = np.inf,
) -> CellNumbers:
    """`values` (any shape) as text for cells, with as many decimals as the `largest` absolute value needs to show its
    first digits.

    If `largest` is so small that these decimals do not fit into a cell, the cells hold thousandths or millionths.
    `digits` is the number of decimals if `largest` is between 0.095 and 10. If the values of interest are smaller
    than `largest`, give the largest of them as `detail`, and up to 3 decimals are used. `missing` is the exact text
    of NaN.
    """
    sign = "+" if signed else ""
    exponent = next((exponent for exponent in _UNITS if largest >= _SMALLEST * 10.0**exponent), -6)
    factor = 10.0**-exponent
    decimals = _decimals(largest * factor, digits)
    decimals = _decimals(round(largest * factor, decimals), digits)  # 9.996 is written as 10.0
    if detail * factor < _SMALLEST:
        decimals = max(decimals, 3)
    numbers = np.asarray(values, float).ravel()
    return CellNumbers(
        [format_number(number * factor, f"{sign}.{decimals}f") for number in numbers],
        [format_number(number, f"{sign}.4g", otherwise=missing) for number in numbers],
        _UNITS[exponent],
    )


def _decimals(largest: float, digits: int) -> int:
    """How many decimals `largest` has if it is written with `digits` of them below 10, and with one fewer for each power of ten."""
    return max(0, digits - int(np.log10(max(1.0, largest))))


def standard_error(share: float, n: int) -> float:
    """Standard error sqrt(p (1 - p) / n) of the share p of n examples; 0 if p is not between 0 and 1."""
    return math.sqrt(max(0.0, share * (1 - share)) / max(1, n))
