"""Curves over a data set: how much the two compared encoders differ, beside how much encoders differ that were trained
with other seeds.
"""

from collections.abc import Sequence

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
Comparisons = dict[str, EncoderComparison]  # by title; the first is that of the two sides


def draw_cka_beside_seeds(first: Side, second: Side) -> None:
    """Draws the CKA of equal stages, for the two sides and, if stored, for encoders of other seeds.

    Draws nothing if no CKA is stored for the two sides.
    """
    if not (comparisons := _comparisons(first, second)):
        return
    st.markdown(f"**{_question_text(comparisons)}** CKA of equal stages")
    stages = max(first.record.stages, second.record.stages, key=len)
    curves = {title: stored.cka for title, stored in comparisons.items()}
    _draw_curves(curves, stages, y_title="CKA", x_title="stage of the stream", key="seeds_cka", top=1)
    last = {title: format_number(float(curve[-1]), ".2f") for title, curve in curves.items()}
    _write_explanation(comparisons, f"At the last stage: {_values_text(last)}.")


def draw_distances_beside_seeds(first: Side, second: Side) -> None:
    """Draws the mean distance (nats) of matched heads by layer, for the two sides and, if stored, for encoders of other seeds.

    Draws nothing if no distances are stored for the two sides.
    """
    if not (comparisons := _comparisons(first, second)):
        return
    st.markdown(f"**{_question_text(comparisons)}** Mean distance of matched heads")
    curves = {title: stored.distance_by_layer for title, stored in comparisons.items()}
    layers = [f"L{layer}" for layer in range(max(map(len, curves.values())))]
    _draw_curves(curves, layers, y_title="head distance (nats)", x_title="layer", key="seeds_distances")
    means = {title: format_number(float(np.nanmean(curve)), ".3f") for title, curve in curves.items()}
    _write_explanation(comparisons, f"Mean over the layers: {_values_text(means)} nats.")


def _comparisons(first: Side, second: Side) -> Comparisons:
    name, other_name = first.checkpoint, second.checkpoint
    if name == other_name or (stored := stored_comparison(name, other_name)) is None:
        return {}
    return {f"{name} against {other_name}": stored} | comparisons_of_seeds(name, other_name)


def _draw_curves(
    curves: dict[str, np.ndarray],
    stages: Sequence[str],
    *,
    y_title: str,
    x_title: str,
    key: str,
    top: float | None = None,
) -> None:
    """Draws the curves over `stages`; if a curve is longer than these names, stages are numbered instead."""
    n = max(map(len, curves.values()))
    if len(stages) < n:
        stages = list(map(str, range(n)))
    palette = iter((CATEGORIES[1], NEUTRAL, CATEGORIES[4]))
    colours = [CATEGORIES[0], *(_COLOURS.get(title) or next(palette, NEUTRAL) for title in list(curves)[1:])]
    figure = call(
        stage_curves,
        curves,
        stages,
        y_title=y_title,
        x_title=x_title,
        from_zero_to=top,
        colours=tuple(colours),
    )
    show(figure, key=key)


def _question_text(comparisons: Comparisons) -> str:
    return "How much of that is the seed?" if len(comparisons) > 1 else "Over a data set:"


def _values_text(values: dict[str, str]) -> str:
    return "; ".join(f"{title} **{value}**" for title, value in values.items())


def _write_explanation(comparisons: Comparisons, figures: str) -> None:
    sources = " and ".join(dict.fromkeys(over(stored.source) for stored in comparisons.values()))
    if len(comparisons) == 1:
        st.caption(f"{figures} Over {sources}. No two seeds of such encoders were compared.")
        return
    one_seed = any(ONE_SEED in title and ACROSS in title for title in comparisons)
    remark = " Two encoders of one seed began with the same random numbers." if one_seed else ""
    st.caption(
        f"{figures} Over {sources}. Two seeds are two encoders trained by one recipe, begun with different random numbers. Two seeds of one placement "
        f"differ by chance alone: only what goes beyond that can come from the placement.{remark}"
    )
