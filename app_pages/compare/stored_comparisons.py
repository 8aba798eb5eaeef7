"""Stored comparisons over a data set: between the two sides, and between encoders that differ in their seed."""

from contextlib import suppress
from pathlib import Path

import streamlit as st

from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.file_states import States, states_of
from app_pages.subject.stored_results import is_measured_with, layers_of, over
from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import PLACEMENTS, plain
from model import checkpoint
from model.atlas.results import EncoderComparison, comparison_file_name, read_comparison
from model.sources.names import split_seed
from viz.compare.stage_curves import Band

ACROSS, ONE_SEED = " against ", "one seed"


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


def _states(first: str, second: str) -> States:
    return states_of(_comparison_path(first, second), first, second)


@cached
def _read_if_current(first: str, second: str, _states: States) -> EncoderComparison | None:
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
    sources = " and ".join(dict.fromkeys(over(layers.source) for layers in with_curve.values()))
    spreads = {title: layers.curves[curve] for title, layers in with_curve.items()}
    return (
        {title: (spread.mean, spread.sd) for title, spread in spreads.items()},
        f"Thick: this input. Dashed and shaded: mean ± standard deviation over {sources}.",
    )


def comparisons_of_seeds(name: str, other_name: str) -> dict[str, EncoderComparison]:
    """Stored comparisons between encoders of one recipe that read the same kind of input as `name`, by title (see
    `_difference_title`), without the comparison of `name` with `other_name`.
    """
    states = []
    for path in sorted(checkpoint.CHECKPOINTS.glob(f"*/{comparison_file_name('*')}")):
        names = path.parent.name, path.stem.removeprefix("against-")
        if names not in ((name, other_name), (other_name, name)):
            states.append((names, _states(*names)))
    return _comparisons_of_seeds(name, tuple(states))


@cached
def _comparisons_of_seeds(
    name: Checkpoint, states: tuple[tuple[tuple[str, str], States], ...]
) -> dict[str, EncoderComparison]:
    is_text, available = checkpoint.read_config(name).is_text, set(checkpoint.available())
    comparisons: dict[str, EncoderComparison] = {}
    for names, state in states:
        title = _difference_title(*names, is_text) if available.issuperset(names) else ""
        with suppress(ValueError):  # `comparison` says which file is damaged, where its encoders are shown
            if title and title not in comparisons and (stored := _read_if_current(*names, state)) is not None:
                comparisons[title] = stored
    order = [*PLACEMENTS.values()]

    def sort_key(title: str) -> tuple[bool, bool, int]:
        first_placement = title.partition(",")[0].partition(ACROSS)[0]
        return ACROSS in title, ONE_SEED not in title, order.index(first_placement)

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
    return f"{ACROSS.join(placements)}, {ONE_SEED if seeds[0] == seeds[1] else 'two seeds'}"
