"""What was stored of the two sides over a data set, and of encoders that differ in their seed."""

from contextlib import suppress
from pathlib import Path

import streamlit as st

from app_pages.cache import Checkpoint, cached
from app_pages.widgets.contrast import Side
from app_pages.widgets.spelling import PLACEMENTS
from model import checkpoint
from model.atlas.stored import ATLAS, Against, Atlas, Source, against_file, read_against, read_atlas
from model.config import ModelConfig
from model.seeds import seed_of
from viz.compare.stage_curves import Band

ACROSS, ONE_SEED = " against ", "one seed"
States = tuple[tuple[int, int] | None, ...]  # of files, in which a change of any of them shows


def atlas_of(name: str) -> Atlas | None:
    """What `python -m model.atlas` stored of a checkpoint; None where there is no file, or one of earlier weights.

    Where the file is damaged, a caption says so.
    """
    try:
        return _atlas(name, _states(checkpoint.CHECKPOINTS / name / ATLAS, name))
    except ValueError as error:
        st.caption(f"{error}.")
        return None


def against(one: str, other: str) -> Against | None:
    """As `atlas_of`, of two checkpoints in either order."""
    for first, second in ((one, other), (other, one)):
        path = checkpoint.CHECKPOINTS / first / against_file(second)
        try:
            found = _against(first, second, _states(path, first, second), turned=first != one)
        except ValueError as error:
            st.caption(f"{error}.")
            continue
        if found is not None:
            return found
    return None


@cached
def _atlas(name: str, _of: States) -> Atlas | None:
    found = read_atlas(checkpoint.CHECKPOINTS / name / ATLAS)
    return found if found is not None and _is_of(found.source, name) else None


@cached
def _against(first: str, second: str, _of: States, *, turned: bool) -> Against | None:
    found = read_against(checkpoint.CHECKPOINTS / first / against_file(second))
    if found is None or not _is_of(found.source, first, second):
        return None
    return found.turned() if turned else found


def over(source: Source) -> str:
    """Such as "256 SST development sentences"."""
    return f"{source.n:,} {source.data}"


def bands(sides: tuple[Side, Side], curve: str) -> tuple[dict[str, Band], str]:
    """What `stage_curves` shades of a stored `curve`, and a sentence about it; nothing where one encoder is on both sides."""
    if sides[0].checkpoint == sides[1].checkpoint:
        return {}, ""
    atlases = {side.title: atlas_of(side.checkpoint) for side in sides}
    known = {title: found for title, found in atlases.items() if found is not None and curve in found.curves}
    if not known:
        return {}, ""
    sources = " and ".join(dict.fromkeys(over(found.source) for found in known.values()))
    said = f"Thick: this input. Dashed and shaded: mean ± standard deviation over {sources}."
    return {title: (each.curves[curve].mean, each.curves[curve].sd) for title, each in known.items()}, said


def seeds_beside(one: str, other: str) -> dict[str, Against]:
    """The stored comparisons within families of seeds that read what these two read, by what differs in each."""
    stored = []
    for path in sorted(checkpoint.CHECKPOINTS.glob(f"*/{against_file('*')}")):
        names = path.parent.name, path.stem.removeprefix("against-")
        if names not in ((one, other), (other, one)):
            stored.append((names, _states(path, *names)))
    return _of_seeds(one, tuple(stored))


@cached
def _of_seeds(one: Checkpoint, stored: tuple[tuple[tuple[str, str], States], ...]) -> dict[str, Against]:
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


def _is_of(source: Source, *names: str) -> bool:
    try:
        return source.weights == tuple(map(checkpoint.weights_hash, names))
    except OSError:
        return False


def _states(stored: Path, *names: str) -> States:
    """What changes with the file, which may be measured anew while the app runs, or with the weights that it is of."""
    paths = stored, *(checkpoint.CHECKPOINTS / name / "model.safetensors" for name in names)
    return tuple(map(_state, paths))


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
