"""What differs between two seeds, beside what differs between the two sides: a curve each, over a data set."""

import numpy as np
import streamlit as st

from app_pages.compare.over_data import ACROSS, ONE_SEED, against, over, seeds_beside
from app_pages.show.show import show
from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import PLACEMENTS
from model.atlas.results import EncoderComparison
from viz.builders.number_format import format_number
from viz.builders.palette import CATEGORIES, NEUTRAL
from viz.builders.palette import PLACEMENTS as HUES
from viz.compare.stage_curves import stage_curves

_BY_NAME = {f"{said}, two seeds": HUES[placement] for placement, said in PLACEMENTS.items()}


def cka_beside_seeds(first: Side, second: Side) -> None:
    """Of equal stages; nothing where nothing is stored of the two sides."""
    if (lines := _lines(first, second)) is None:
        return
    st.markdown(f"**{_asked(lines)}** CKA of equal stages")
    stages = max(first.record.stages, second.record.stages, key=len)
    _draw(lines, {name: each.cka for name, each in lines.items()}, stages, "CKA", "seeds_cka", 1)
    last = {name: format_number(float(each.cka[-1]), ".2f") for name, each in lines.items()}
    _say(lines, f"At the last stage: {_listed(last)}.")


def distances_beside_seeds(first: Side, second: Side) -> None:
    """Of matched heads, by layer; nothing where nothing is stored of the two sides."""
    if (lines := _lines(first, second)) is None:
        return
    st.markdown(f"**{_asked(lines)}** Mean distance of matched heads")
    values = {name: each.by_layer for name, each in lines.items()}
    layers = [f"L{layer}" for layer in range(max(map(len, values.values())))]
    _draw(lines, values, layers, "head distance (nats)", "seeds_distances", None)
    means = {name: format_number(float(np.nanmean(each)), ".3f") for name, each in values.items()}
    _say(lines, f"Mean over the layers: {_listed(means)} nats.")


def _lines(first: Side, second: Side) -> dict[str, EncoderComparison] | None:
    one, other = first.checkpoint, second.checkpoint
    if one == other or (pair := against(one, other)) is None:
        return None
    return {f"{one} against {other}": pair} | seeds_beside(one, other)


def _draw(
    lines: dict[str, EncoderComparison],
    values: dict[str, np.ndarray],
    places: tuple[str, ...] | list[str],
    title: str,
    key: str,
    top: float | None,
) -> None:
    across = iter((CATEGORIES[1], NEUTRAL, CATEGORIES[4]))
    colours = [CATEGORIES[0], *(_BY_NAME.get(name) or next(across, NEUTRAL) for name in list(lines)[1:])]
    longest = max(map(len, values.values()))
    figure = stage_curves(
        values,
        places if len(places) >= longest else [str(place) for place in range(longest)],
        y_title=title,
        x_title="layer" if top is None else "stage of the stream",
        from_zero_to=top,
        colours=tuple(colours),
    )
    show(figure, key=key)


def _asked(lines: dict[str, EncoderComparison]) -> str:
    return "How much of that is the seed?" if len(lines) > 1 else "Over a data set:"


def _listed(values: dict[str, str]) -> str:
    return "; ".join(f"{name} **{value}**" for name, value in values.items())


def _say(lines: dict[str, EncoderComparison], figures: str) -> None:
    sources = " and ".join(dict.fromkeys(over(each.source) for each in lines.values()))
    if len(lines) == 1:
        st.caption(f"{figures} Over {sources}. No two seeds of such encoders were compared.")
        return
    one_seed = any(ONE_SEED in name and ACROSS in name for name in lines)
    began = " Two encoders of one seed began with the same random numbers." if one_seed else ""
    st.caption(
        f"{figures} Over {sources}. Two seeds are two encoders trained by one recipe, begun with different random numbers. Two seeds of one placement "
        f"differ by chance alone: only what goes beyond that can come from the placement.{began}"
    )
