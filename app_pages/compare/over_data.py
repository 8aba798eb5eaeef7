"""What was stored of the two sides over a data set, and of encoders that differ in their seed."""

from contextlib import suppress

import streamlit as st

from app_pages.subject.cache import Checkpoint, cached
from app_pages.subject.stored_results import States, is_of, layers_of, over, states_of
from app_pages.subject.two_sides import Side
from app_pages.toolkit.markdown import PLACEMENTS, plain
from model import checkpoint
from model.atlas.results import EncoderComparison, comparison_file, read_comparison
from model.checkpoint.seeds import seed_of
from model.config import ModelConfig
from viz.compare.stage_curves import Band

ACROSS, ONE_SEED = " against ", "one seed"


def against(one: str, other: str) -> EncoderComparison | None:
    """What was stored of two checkpoints, in either order; None where there is no file, or one of earlier weights.

    Where the file is damaged, a caption says so.
    """
    for first, second in ((one, other), (other, one)):
        path = checkpoint.CHECKPOINTS / first / comparison_file(second)
        try:
            found = _against(first, second, states_of(path, first, second), turned=first != one)
        except ValueError as error:
            st.caption(f"{plain(str(error))}.")
            continue
        if found is not None:
            return found
    return None


@cached
def _against(first: str, second: str, _of: States, *, turned: bool) -> EncoderComparison | None:
    found = read_comparison(checkpoint.CHECKPOINTS / first / comparison_file(second))
    if found is None or not is_of(found.source, first, second):
        return None
    return found.turned() if turned else found


def bands(sides: tuple[Side, Side], curve: str) -> tuple[dict[str, Band], str]:
    """What `stage_curves` shades of a stored `curve`, and a sentence about it; nothing where one encoder is on both sides."""
    if sides[0].checkpoint == sides[1].checkpoint:
        return {}, ""
    atlases = {side.title: layers_of(side.checkpoint) for side in sides}
    known = {title: found for title, found in atlases.items() if found is not None and curve in found.curves}
    if not known:
        return {}, ""
    sources = " and ".join(dict.fromkeys(over(found.source) for found in known.values()))
    said = f"Thick: this input. Dashed and shaded: mean ± standard deviation over {sources}."
    return {title: (each.curves[curve].mean, each.curves[curve].sd) for title, each in known.items()}, said


def seeds_beside(one: str, other: str) -> dict[str, EncoderComparison]:
    """The stored comparisons within families of seeds that read what these two read, by what differs in each."""
    stored = []
    for path in sorted(checkpoint.CHECKPOINTS.glob(f"*/{comparison_file('*')}")):
        names = path.parent.name, path.stem.removeprefix("against-")
        if names not in ((one, other), (other, one)):
            stored.append((names, states_of(path, *names)))
    return _of_seeds(one, tuple(stored))


@cached
def _of_seeds(
    one: Checkpoint, stored: tuple[tuple[tuple[str, str], States], ...]
) -> dict[str, EncoderComparison]:
    is_text, known, found = checkpoint.read_config(one).is_text, set(checkpoint.available()), {}
    for names, states in stored:
        said = _differs(*names, is_text) if known.issuperset(names) else ""
        with suppress(ValueError):  # where the two sides are those of a damaged file, they say so
            if said and said not in found and (made := _against(*names, states, turned=False)) is not None:
                found[said] = made
    order = [*PLACEMENTS.values()]

    def place(name: str) -> tuple[bool, bool, int]:
        return ACROSS in name, ONE_SEED not in name, order.index(name.partition(",")[0].partition(ACROSS)[0])

    return {name: found[name] for name in sorted(found, key=place)}


def _differs(first: str, second: str, is_text: bool) -> str:
    """What two checkpoints of one family of seeds differ in; "" where they are no such two."""
    seedless, seeds = zip(*map(seed_of, (first, second)), strict=True)
    if seedless == (first, second) or len(set(map(_stem, seedless))) > 1:
        return ""
    try:
        configs = [checkpoint.read_config(name) for name in (first, second)]
    except ValueError:
        return ""
    if any(config.is_text != is_text for config in configs):
        return ""
    placements = [said for placement, said in PLACEMENTS.items() if placement in _placements(configs)]
    return f"{ACROSS.join(placements)}, {ONE_SEED if seeds[0] == seeds[1] else 'two seeds'}"


def _placements(configs: list[ModelConfig]) -> set[str]:
    return {config.norm_placement for config in configs}


def _stem(seedless: str) -> str:
    return seedless.removesuffix("-pre-ln").removesuffix("-post-ln")
