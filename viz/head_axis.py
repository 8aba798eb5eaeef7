"""The axes of figures with a cell a head: layers L0, L1, … and heads H0, H1, …"""

import altair as alt


def head_axis(letter: str, **options: str) -> alt.Axis:
    """Names of a band of cells, `letter` before each number; `options` are further ones of Altair's."""
    return alt.Axis(
        labelExpr=f"'{letter}' + datum.label",
        labelAngle=0,
        labelFlush=False,  # or the first and the last would stand beside the middle of their cells
        ticks=False,
        domain=False,
        grid=False,
        **options,
    )
