"""Squared norms of hidden vectors layer by layer, with what Lemma 2 of Xiong et al. 2020 says of them."""

from collections.abc import Container, Mapping

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import NEUTRAL
from viz.theme import INK
from viz.theory.seed_spread import position_axis, seed_spread, value_axis

_X, _Y = "layers passed, l", "mean of ‖x‖²"


def hidden_norms(norms: Mapping[str, np.ndarray], lemma: np.ndarray) -> alt.LayerChart:
    """Norms [seed, layer] by variant behind the layers 1, 2, ...; `lemma` [3, layer] holds pre-LN's two bounds
    and post-LN's line, which are drawn beside the variants that they are of. Raises ValueError where the two differ in the number of layers.
    """
    return seed_spread(
        norms,
        range(1, lemma.shape[1] + 1),
        x=_X,
        y=_Y,
        guides=_guides(lemma, norms),
        description="Mean squared norm of the hidden vectors behind each layer, a line a placement of the norm.",
    )


def _guides(lemma: np.ndarray, variants: Container[str]) -> list[alt.Chart]:
    low, high, post = lemma
    passed = range(1, len(post) + 1)
    rows = pd.DataFrame({"position": list(passed), "low": low, "high": high, "post": post})
    base = alt.Chart(rows).encode(x=position_axis(passed, title=_X, scale="linear"))
    y = {field: value_axis(field, title=_Y, scale="linear") for field in ("low", "high", "post")}
    band = base.mark_area(color=NEUTRAL, opacity=0.2).encode(y=y["low"], y2="high:Q")
    line = base.mark_line(color=NEUTRAL, strokeDash=[2, 4], strokeWidth=2).encode(y=y["post"])
    last = base.transform_filter(f"datum.position == {len(post)}")

    def named(field: str, name: str, dy: int) -> alt.Chart:
        text = last.mark_text(text=name, align="right", dx=-4, dy=dy, fontSize=13, color=INK)
        return text.encode(y=y[field])

    shapes, texts = [], []
    if "pre-LN" in variants:
        shapes, texts = [band], [named("low", "(1 + l/2) d", 12), named("high", "(1 + 3l/2) d", -6)]
    if "post-LN" in variants:
        shapes, texts = [*shapes, line], [*texts, named("post", "3d/2", 12)]
    return shapes + texts
