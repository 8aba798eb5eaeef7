"""The colour bar of an Altair figure: short, and below it on the left."""

from collections.abc import Sequence

import altair as alt


def colour_legend(title: str, ticks: Sequence[float] | alt.ExprRef, **options: object) -> alt.Legend:
    """A gradient with numbers at `ticks`; `title` says what is coloured, `options` are further ones of Altair's."""
    return alt.Legend(
        title=title,
        titleLimit=0,
        orient="bottom",
        direction="horizontal",
        gradientLength=180,
        gradientThickness=8,
        values=ticks,
        **options,
    )
