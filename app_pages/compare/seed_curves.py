"""Curves over a data set: how much the two compared encoders differ, beside the differences between encoders that were trained
with different seeds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from app_pages.compare.stored_comparisons import ACROSS, ONE_SEED, comparisons_of_seeds, stored_comparison
from app_pages.show.show import show
from app_pages.subject.stored_results import over
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import PLACEMENTS
from model.atlas.results import EncoderComparison
from viz.builders.number_format import format_number
from viz.builders.palette import CATEGORIES, NEUTRAL
from viz.builders.palette import PLACEMENTS as HUES
from viz.compare.stage_curves import stage_curves

_COLOURS = {f"{title}, two seeds": HUES[placement] for placement, title in PLACEMENTS.items()}


def draw_cka_beside_seeds(first: Side, second: Side) -> None:
    """Draws the CKA of each stage with the same stage of the other encoder: for the two sides and, if stored, for pairs of
    encoders with different seeds.

    Draws nothing if no CKA is stored for the two sides.
    """
    comparisons = _comparisons(first, second)
    stages = max(first.record.stages, second.record.stages, key=len)
    curves = {title: stored.cka for title, stored in comparisons.items()}
    last = {title: format_number(float(curve[-1]), ".2f") for title, curve in curves.items()}
    axes = {"y_title": "CKA", "x_title": "stage of the stream", "from_zero_to": 1}
    _draw_curves(
        comparisons, curves, stages, "CKA of equal stages", axes, "At the last stage", last, key="seeds_cka"
    )


def draw_distances_beside_seeds(first: Side, second: Side) -> None:
    """Draws the mean distance (nats) of matched heads by layer: for the two sides and, if stored, for pairs of encoders with
    different seeds.

    Draws nothing if no distances are stored for the two sides.
    """
    comparisons = _comparisons(first, second)
    curves = {title: stored.distance_by_layer for title, stored in comparisons.items()}
    layers = [f"L{layer}" for layer in range(max(map(len, curves.values()), default=0))]
    means = {
        title: f"{format_number(float(np.nanmean(curve)), '.3f')} nats" for title, curve in curves.items()
    }
    axes = {"y_title": "head distance (nats)", "x_title": "layer"}
    what, key = "Mean distance of matched heads", "seeds_distances"
    _draw_curves(comparisons, curves, layers, what, axes, "Mean over the layers", means, key=key)


def _comparisons(first: Side, second: Side) -> dict[str, EncoderComparison]:
    """Stored comparisons by title, first that of the two sides, then those of pairs of seeds; empty if the two sides have
    none.
    """
    name, other_name = first.checkpoint, second.checkpoint
    if name == other_name or (stored := stored_comparison(name, other_name)) is None:
        return {}
    return {f"{name} against {other_name}": stored} | comparisons_of_seeds(name, other_name)


def _draw_curves(
    comparisons: dict[str, EncoderComparison],
    curves: dict[str, np.ndarray],
    stages: Sequence[str],
    what: str,
    axes: dict[str, Any],
    where: str,
    values: dict[str, str],
    *,
    key: str,
) -> None:
    """Draws the `curves` of the quantity `what` by title over the `stages` (numbers where a curve has more points), and writes
    the `values` below.
    """
    if not comparisons:
        return
    has_seeds = len(comparisons) > 1
    st.markdown(f"**{'How much of that is the seed?' if has_seeds else 'Over a data set:'}** {what}")
    n = max(map(len, curves.values()))
    palette = iter((CATEGORIES[1], NEUTRAL, CATEGORIES[4]))
    colours = [CATEGORIES[0], *(_COLOURS.get(title) or next(palette, NEUTRAL) for title in list(curves)[1:])]
    names = stages if len(stages) >= n else list(map(str, range(n)))
    show(call(stage_curves, curves, names, colours=tuple(colours), **axes), key=key)
    sources = " and ".join(dict.fromkeys(over(stored.source) for stored in comparisons.values()))
    text = f"{where}: {'; '.join(f'{title} **{value}**' for title, value in values.items())}. Over {sources}."
    if not has_seeds:
        st.caption(f"{text} No two seeds of such encoders were compared.")
        return
    one_seed = any(ONE_SEED in title and ACROSS in title for title in comparisons)
    remark = " Two encoders of one seed began with the same random numbers." if one_seed else ""
    st.caption(
        f"{text} Two seeds are two encoders trained by one recipe, begun with different random numbers. Two seeds of one placement "
        f"differ by chance alone: only what goes beyond that can come from the placement.{remark}"
    )
