"""Numbers and vectors as LaTeX, and the offset between two patches in words."""

from collections.abc import Iterable

from app_pages.toolkit.markdown import counted
from viz.builders.number_format import format_tex


def format_scientific(value: float) -> str:
    """LaTeX of a number: with two digits and a power of ten if it is small, else with three decimals; "0" only for exactly 0."""
    if value == 0 or value >= 0.001:
        return f"{value:.3f}" if value else "0"
    return format_tex(value, ".1e")


def column_vector(values: Iterable[float]) -> str:
    """LaTeX of a column vector with four decimals."""
    rows = r" \\ ".join(format_tex(value, ".4f") for value in values)
    return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"


def between_patches(down: int, right: int) -> str:
    """Position of a key's patch relative to the query's, such as "2 rows above and 1 column to the left of the query"."""
    clauses = []
    if down:
        clauses.append(f"{counted(abs(down), 'row')} {'below' if down > 0 else 'above'}")
    if right:
        clauses.append(f"{counted(abs(right), 'column')} to the {'right' if right > 0 else 'left'} of")
    if not clauses:
        return "the query itself"
    return f"{' and '.join(clauses)} the query"
