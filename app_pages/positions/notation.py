"""Numbers as they stand in formulas."""

from collections.abc import Iterable

from viz.builders.number_format import format_tex


def scientific(value: float) -> str:
    """For `$...$`: two digits and a power of ten where it is small, else three decimals; 0 is exact."""
    if value == 0 or value >= 0.001:
        return f"{value:.3f}" if value else "0"
    return format_tex(value, ".1e")


def column(values: Iterable[float]) -> str:
    r"""A column vector of four decimals, for `st.latex`."""
    rows = r" \\ ".join(format_tex(value, ".4f") for value in values)
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
