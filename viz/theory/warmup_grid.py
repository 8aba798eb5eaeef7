"""Final losses and accuracies over learning rate and warm-up: a cell a run."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from viz.palette import ATTENTION, MASKED
from viz.theme import DARK_INK, INK, LIGHT_INK

_STEP = 46  # pixels a row
DIVERGED = "diverged"

Cell = tuple[float, int, float | None, float | None]


def warmup_grid(
    cells: Sequence[Cell], *, rates: Sequence[float], warmups: Sequence[int], highest: float, title: str
) -> alt.LayerChart:
    """Cells of (learning rate, warm-up in steps, final loss, accuracy), the loss None where a run diverged.

    `rates` and `warmups` are the axes, and the colours reach from 0 to `highest`, so that several grids compare.
    """
    rows = pd.DataFrame(
        [
            {
                "rate": f"{rate:g}",
                "warmup": warmup,
                "loss": loss,
                "final loss": DIVERGED if loss is None else f"{loss:.2f}",
                "said": "\n".join(_said(loss, accuracy)),
                "accuracy": "not measured" if accuracy is None else f"{accuracy:.1%}",
            }
            for rate, warmup, loss, accuracy in cells
        ],
        columns=["rate", "warmup", "loss", "final loss", "said", "accuracy"],
    ).astype({"loss": float})
    base = alt.Chart(rows).encode(
        x=alt.X(
            "rate:O",
            title="learning rate",
            scale=alt.Scale(domain=[f"{rate:g}" for rate in rates]),
            axis=alt.Axis(labelAngle=0, labelFlush=False),
        ),
        y=alt.Y(
            "warmup:O",
            title="warm-up (steps)",
            scale=alt.Scale(domain=list(warmups)),
            axis=alt.Axis(labelFlush=False),
        ),
    )
    colours = alt.Scale(domain=[0, highest], range=list(ATTENTION), clamp=True)
    rect = base.mark_rect(stroke=MASKED, strokeWidth=0.5, invalid="show").encode(
        fill=alt.when(alt.datum["final loss"] == DIVERGED)
        .then(alt.value(MASKED))
        .otherwise(alt.Fill("loss:Q", scale=colours, legend=None)),
        tooltip=[
            alt.Tooltip("rate:O", title="learning rate"),
            alt.Tooltip("warmup:O", title="warm-up (steps)"),
            alt.Tooltip("final loss:N"),
            alt.Tooltip("accuracy:N", title="accuracy, held out"),
        ],
    )
    # The strongest colours are too dark for the dark ink of a light page, the grey too light for light ink.
    ink = f"datum.loss > {0.8 * highest} ? '{LIGHT_INK}' : {INK.expr}"
    text = base.mark_text(
        fontSize=13,
        lineBreak="\n",
        dy=alt.expr("indexof(datum.said, '\\n') < 0 ? 0 : -7"),
        color=alt.expr(f"datum['final loss'] == '{DIVERGED}' ? '{DARK_INK}' : {ink}"),
    ).encode(text="said:N")
    return alt.layer(rect, text).properties(
        height=_STEP * max(len(warmups), 1),
        title=f"{title}: final loss, accuracy",
        autosize={"type": "fit-x", "contains": "padding"},
        description=f"{title}: final loss and accuracy over learning rate and warm-up, a cell a run.",
    )


def _said(loss: float | None, accuracy: float | None) -> list[str]:
    """The lines of a cell."""
    lines = [DIVERGED if loss is None else f"{loss:.2f}"]
    return lines if accuracy is None else [*lines, f"{accuracy:.1%}"]
