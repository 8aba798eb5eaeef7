"""What was stored of the two sides over a data set, and of the small family beside them."""

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


@cached
def _atlas(path: Path, _state: tuple[int, int]) -> Atlas | None:
    return read_atlas(path)


@cached
def _against(path: Path, _state: tuple[int, int]) -> Against | None:
    return read_against(path)


def atlas_of(name: str) -> Atlas | None:
    """None where nothing is stored, or where it is of other weights; where it is damaged a sentence says so."""
    path = checkpoint.CHECKPOINTS / name / ATLAS
    try:
        found = _atlas(path, _state(path))
    except ValueError as error:
        st.caption(f"{error}.")
        return None
    return found if found is not None and _is_of(found.source, name) else None


def against(one: str, other: str) -> Against | None:
    """As `atlas_of`, of two checkpoints in either order."""
    for first, second in ((one, other), (other, one)):
        path = checkpoint.CHECKPOINTS / first / against_file(second)
        try:
            found = _against(path, _state(path))
        except ValueError as error:
            st.caption(f"{error}.")
            continue
        if found is not None and _is_of(found.source, first, second):
            return found if first == one else found.turned()
    return None


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
    is_text, known, found = _config(one).is_text, set(checkpoint.available()), {}
    for path in sorted(checkpoint.CHECKPOINTS.glob(f"*/{against_file('*')}")):
        names = path.parent.name, path.stem.removeprefix("against-")
        if names in ((one, other), (other, one)) or not known.issuperset(names):
            continue
        said = _differs(*names, is_text)
        if said and said not in found and (made := against(*names)) is not None:
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
        configs = [_config(name) for name in (first, second)]
    except ValueError:
        return ""
    if any(config.is_text != is_text for config in configs):
        return ""
    placements = [said for placement, said in PLACEMENTS.items() if placement in _placements(configs)]
    return f"{ACROSS.join(placements)}, {ONE_SEED if seeds[0] == seeds[1] else 'two seeds'}"


def _placements(configs: list[ModelConfig]) -> set[str]:
    return {config.norm_placement for config in configs}


@cached
def _config(name: Checkpoint) -> ModelConfig:
    return checkpoint.read_config(name)


def _stem(seedless: str) -> str:
    return seedless.removesuffix("-pre-ln").removesuffix("-post-ln")


def _is_of(source: Source, *names: str) -> bool:
    try:
        return source.weights == tuple(map(checkpoint.weights_hash, names))
    except OSError:
        return False


def _state(path: Path) -> tuple[int, int]:
    """What changes with the file: it may be measured anew while the app runs."""
    found = path.stat() if path.is_file() else None
    return (found.st_mtime_ns, found.st_size) if found else (0, 0)
