"""Numbers and vectors as LaTeX."""

from collections.abc import Iterable

from viz.builders.number_format import format_tex


def format_scientific(value: float) -> str:
    """LaTeX of a number: two digits and a power of ten if it is small, else three decimals; "0" means exactly 0."""
    if value == 0 or value >= 0.001:
        return f"{value:.3f}" if value else "0"
    return format_tex(value, ".1e")


def column_vector(values: Iterable[float]) -> str:
    """LaTeX of a column vector with four decimals."""
    rows = r" \\ ".join(format_tex(value, ".4f") for value in values)
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
