"""Stored comparisons over a data set: between the two sides, and between encoders that differ in their seed; curves of both."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from app_pages.show.show import show
from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.file_states import FileState, state_of_path
from app_pages.subject.stored_results import examples_phrase, is_measured_with, layers_of
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import call
from app_pages.toolkit.markdown import PLACEMENTS, plain
from model import checkpoint
from model.atlas.results import EncoderComparison, comparison_file_name, read_comparison
from model.sources.names import split_seed
from viz.builders.number_format import format_number
from viz.builders.palette import CATEGORIES, NEUTRAL
from viz.builders.palette import PLACEMENTS as HUES
from viz.compare.stage_curves import Band, stage_curves

_ACROSS, _ONE_SEED = " against ", "one seed"
_COLOURS = {f"{title}, two seeds": HUES[placement] for placement, title in PLACEMENTS.items()}


def stored_comparison(name: str, other_name: str) -> EncoderComparison | None:
    """Stored comparison of two encoders, in either order. None if there is no file, if it was measured with other weights than
    the encoders have now, or if it is damaged, in which case a caption says so.
    """
    for first, second in ((name, other_name), (other_name, name)):
        try:
            stored = _read_if_current(first, second, _states(first, second))
        except ValueError as error:
            st.caption(f"{plain(str(error))}.")
            continue
        if stored is not None:
            return stored if first == name else stored.exchanged()
    return None


def _comparison_path(first: str, second: str) -> Path:
    return checkpoint.CHECKPOINTS / first / comparison_file_name(second)


def _states(first: str, second: str) -> FileState:
    return state_of_path(_comparison_path(first, second), first, second)


@cached
def _read_if_current(first: str, second: str, _states: FileState) -> EncoderComparison | None:
    stored = read_comparison(_comparison_path(first, second))
    return stored if stored is not None and is_measured_with(stored.source, first, second) else None


def stored_bands(sides: tuple[Side, Side], curve: str) -> tuple[dict[str, Band], str]:
    """Stored mean and standard deviation of `curve`, by title of the side, and a sentence on their source; {} and "" if both
    sides are one encoder, or nothing is stored.
    """
    if sides[0].checkpoint == sides[1].checkpoint:
        return {}, ""
    stored = {side.title: layers_of(side.checkpoint) for side in sides}
    with_curve = {
        title: layers for title, layers in stored.items() if layers is not None and curve in layers.curves
    }
    if not with_curve:
        return {}, ""
    sources = " and ".join(dict.fromkeys(examples_phrase(layers.source) for layers in with_curve.values()))
    spreads = {title: layers.curves[curve] for title, layers in with_curve.items()}
    return (
        {title: (spread.mean, spread.sd) for title, spread in spreads.items()},
        f"Thick: this input. Dashed and shaded: mean ± standard deviation over {sources}.",
    )


def _comparisons_of_seeds(name: str, other_name: str) -> dict[str, EncoderComparison]:
    """Stored comparisons between encoders of one recipe that read the same kind of input as `name`, by title (see
    `_difference_title`), without the comparison of `name` with `other_name`.
    """
    states = []
    for path in sorted(checkpoint.CHECKPOINTS.glob(f"*/{comparison_file_name('*')}")):
        names = path.parent.name, path.stem.removeprefix("against-")
        if names not in ((name, other_name), (other_name, name)):
            states.append((names, _states(*names)))
    return _comparisons_in_state(name, tuple(states))


@cached
def _comparisons_in_state(
    name: Checkpoint, states: tuple[tuple[tuple[str, str], FileState], ...]
) -> dict[str, EncoderComparison]:
    is_text, available = checkpoint.read_config(name).is_text, set(checkpoint.available())
    comparisons: dict[str, EncoderComparison] = {}
    for names, state in states:
        title = _difference_title(*names, is_text) if available.issuperset(names) else ""
        with suppress(
            ValueError
        ):  # `stored_comparison` says which file is damaged, where its encoders are shown
            if title and title not in comparisons and (stored := _read_if_current(*names, state)) is not None:
                comparisons[title] = stored
    order = [*PLACEMENTS.values()]

    def sort_key(title: str) -> tuple[bool, bool, int]:
        first_placement = title.partition(",")[0].partition(_ACROSS)[0]
        return _ACROSS in title, _ONE_SEED not in title, order.index(first_placement)

    return {title: comparisons[title] for title in sorted(comparisons, key=sort_key)}


def _difference_title(first: str, second: str, is_text: bool) -> str:
    """Title that names what differs between the two encoders, such as "pre-LN, two seeds"; "" if their training recipes
    differ.
    """
    seedless, seeds = zip(*map(split_seed, (first, second)), strict=True)
    families = {name.removesuffix("-pre-ln").removesuffix("-post-ln") for name in seedless}
    if seedless == (first, second) or len(families) > 1:
        return ""
    try:
        configs = [checkpoint.read_config(name) for name in (first, second)]
    except ValueError:
        return ""
    if any(config.is_text != is_text for config in configs):
        return ""
    used = {config.norm_placement for config in configs}
    placements = [title for placement, title in PLACEMENTS.items() if placement in used]
    return f"{_ACROSS.join(placements)}, {_ONE_SEED if seeds[0] == seeds[1] else 'two seeds'}"


def draw_cka_beside_seeds(first: Side, second: Side) -> None:
    """Draws the CKA of each stage with the same stage of the other encoder: for the two sides and, if stored, for pairs of
    encoders with different seeds.

    Draws nothing if no CKA is stored for the two sides.
    """
    comparisons = _comparisons(first, second)
    stages = max(first.record.stages, second.record.stages, key=len)
    curves = {title: stored.cka for title, stored in comparisons.items()}
    values = [f"{title} **{format_number(float(curve[-1]), '.2f')}**" for title, curve in curves.items()]
    text = f"At the last stage: {'; '.join(values)}"
    axes = {"y_title": "CKA", "x_title": "stage of the stream", "from_zero_to": 1}
    _draw_curves(comparisons, curves, stages, "CKA of equal stages", text, key="seeds_cka", **axes)


def draw_distances_beside_seeds(first: Side, second: Side) -> None:
    """Draws the mean distance (nats) of matched heads by layer: for the two sides and, if stored, for pairs of encoders with
    different seeds.

    Draws nothing if no distances are stored for the two sides.
    """
    comparisons = _comparisons(first, second)
    curves = {title: stored.distance_by_layer for title, stored in comparisons.items()}
    layers = [f"L{layer}" for layer in range(max(map(len, curves.values()), default=0))]
    means = {title: format_number(float(np.nanmean(curve)), ".3f") for title, curve in curves.items()}
    text = f"Mean over the layers: {'; '.join(f'{title} **{mean} nats**' for title, mean in means.items())}"
    axes = {"y_title": "head distance (nats)", "x_title": "layer"}
    what = "Mean distance of matched heads"
    _draw_curves(comparisons, curves, layers, what, text, key="seeds_distances", **axes)


def _comparisons(first: Side, second: Side) -> dict[str, EncoderComparison]:
    """Stored comparisons by title, first that of the two sides, then those of pairs of seeds; empty if the two sides have
    none.
    """
    name, other_name = first.checkpoint, second.checkpoint
    if name == other_name or (stored := stored_comparison(name, other_name)) is None:
        return {}
    return {f"{name} against {other_name}": stored} | _comparisons_of_seeds(name, other_name)


def _draw_curves(
    comparisons: dict[str, EncoderComparison],
    curves: dict[str, np.ndarray],
    stages: Sequence[str],
    what: str,
    values_text: str,
    *,
    key: str,
    **axes: Any,
) -> None:
    """Draws the `curves` of the quantity `what` by title over the `stages` (numbers where a curve has more points), and writes
    `values_text` below. `axes` are the titles of the axes, and where the y axis ends, for `stage_curves`.
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
    sources = " and ".join(dict.fromkeys(examples_phrase(stored.source) for stored in comparisons.values()))
    text = f"{values_text}. Over {sources}."
    if not has_seeds:
        st.caption(f"{text} No two seeds of such encoders were compared.")
        return
    one_seed = any(_ONE_SEED in title and _ACROSS in title for title in comparisons)
    remark = " Two encoders of one seed began with the same random numbers." if one_seed else ""
    st.caption(
        f"{text} Two seeds are two encoders trained by one recipe, begun with different random numbers. Two seeds of one placement "
        f"differ by chance alone: only what goes beyond that can come from the placement.{remark}"
    )
