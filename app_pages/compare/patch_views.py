"""How the patches of one or two pictures resemble each other, after a chosen layer: cosines with one patch, principal components
as colours, and lengths of the states.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app_pages.controls.compare_controls import PATCH
from app_pages.controls.control_bar import Slots
from app_pages.controls.map_controls import LAYER
from app_pages.show.show import clickable, show
from app_pages.subject import as_python
from app_pages.subject.cache import cached
from app_pages.subject.subject import LiveSubject
from app_pages.subject.two_sides import Side
from app_pages.toolkit.expression import Expression, call, named
from model.similarity.patch_similarity import (
    DEVIATIONS,
    PatchColours,
    PatchNorms,
    patch_colours_by_layer,
    patch_norms,
    patch_similarity,
)
from viz.builders.number_format import format_number, percent
from viz.similarity.patch_map import MOST_PATCHES, patch_map
from viz.similarity.patch_pictures import COLOURS, layer_patches, patch_colour_map, patch_norm_map
from viz.similarity.pictures_beside import NAMES, patch_names

_BEGUN = (
    "patch_map_begun"  # in the session: of what the map is, the patch that it began with, and the chosen one
)


def draw_patch(slots: Slots, first: Side, second: Side) -> None:
    """Draws the cosine between every patch of both pictures and the patch under the pointer; a click chooses that patch."""
    sides = _sides_with_different_pictures(first, second)
    grids = _grids(sides)
    names = _patch_names(grids)
    rows, columns = grids[0]
    with slots.controls:
        layer = _choose_layer(first)
        patch = PATCH.choose(
            range(len(names)),
            rows // 2 * columns + columns // 2,
            format_func=names.__getitem__,
        )
    records = [as_python.record(side.subject) for side in sides]
    own = [call(patch_similarity, record, layer) for record in records]
    if len(sides) == 1:
        cosines = own[0]
    else:
        between = named("between", call(patch_similarity, records[0], layer, records[1]))
        cosines = call(np.block, [[own[0], between], [between.T, own[1]]])
    cosines = named("cosines", cosines, lambda: _patch_cosines(first.subject, second.subject, layer))
    pictures = _pictures(sides)
    begun = _initial_patch_of_chart([side.subject for side in sides], layer, patch)

    def take(point: dict) -> None:
        st.session_state[_BEGUN] = (*st.session_state[_BEGUN][:2], int(point["index"]))
        PATCH.take(int(point["index"]))

    def figure(index: int) -> Expression:
        return call(patch_map, cosines, pictures, grids, patch=index)

    how = "Point at another one; a click keeps it."
    if len(names) > MOST_PATCHES:
        how = f"Click another one: more than {MOST_PATCHES:,} do not follow the pointer."
    st.markdown(
        f"**Which patches are like the framed one to the encoder?** {how}{_most_alike(cosines(), patch, layer, names)}"
    )
    st.caption(
        "Gold: their states point the same way (cosine 1); no colour: at a right angle (0); purple: opposite ways (−1). "
        "r2c3 is row 2, column 3, counted from 0.",
        help="A state is the vector that the encoder holds of a patch. In DINO's encoders, patches of like parts of a picture are alike in the "
        "later layers (Caron et al. 2021; Oquab et al. 2023); in others, often just those that lie near.",
    )
    clickable(
        figure(begun),
        key="patch_map",
        chosen=patch,
        selection="patch",
        take=take,
        height="stretch",
        in_file=figure(patch),
    )


def draw_colours(slots: Slots, first: Side, second: Side) -> None:
    """Draws the first three principal components of the patches' states as red, green and blue, by layer."""
    sides = _sides_with_different_pictures(first, second)
    with slots.controls:
        layer = _choose_layer(first)
    records = [as_python.record(side.subject) for side in sides]
    source = named(
        "colours",
        call(patch_colours_by_layer, *records),
        lambda: _patch_colours(first.subject, second.subject),
    )
    grids, colours = _grids(sides), source()
    large = call(
        patch_colour_map, source[layer].colours, source[layer].explained_variance, _pictures(sides), grids
    )
    values = call(np.stack, [source[index].colours for index in range(len(colours))])
    notes = [percent(float(layer_colours.explained_variance.sum()), 0) for layer_colours in colours]
    names = _patch_names(grids)
    of_layer = colours[layer]
    reddest = int(of_layer.colours[:, 0].argmax())
    numbers = zip(COLOURS, of_layer.colours[reddest], strict=True)
    mixed = ", ".join(f"{colour} {format_number(float(number), '.2f')}" for colour, number in numbers)
    st.markdown(
        f"**Which patches does the encoder treat alike, after layer {layer}?** Like colours are like states. The reddest is "
        f"{_in_words(names[reddest])}: {mixed}, each from 0 to 1."
    )
    st.caption(
        f"The colours keep **{notes[layer]}** of how the states differ in this layer; beside each layer stands its share. Black has no meaning "
        "of its own: it is low on all three.",
        help="Of each patch's vector three numbers are shown, along the directions in which the patches"
        f"{' of both pictures together' if len(sides) == 2 else ''} vary most (principal components): red the first, green the second, blue "
        "the third. Which end of a direction is bright is arbitrary; it is chosen so that colours agree with the layer before. See whether a "
        "part of the picture has one colour, and the same in both pictures (Oquab et al. 2023).",
    )
    _draw_layers("colours", large, call(layer_patches, values, grids, notes, layer=layer), layer)


def draw_norms(slots: Slots, first: Side, second: Side) -> None:
    """Draws the lengths of the patches' states by layer, and frames patches whose states are far longer than the others."""
    sides = _sides_with_different_pictures(first, second)
    n_layers = first.record.config.n_layers
    by_side: list[list[Expression]] = []
    results: list[list[PatchNorms]] = []
    for side in sides:
        record = as_python.record(side.subject)
        results.append([side.subject.measure(patch_norms, index) for index in range(n_layers)])
        by_side.append([call(patch_norms, record, index) for index in range(n_layers)])
    counts = [[len(by_layer[index].outliers) for by_layer in results] for index in range(n_layers)]
    with slots.controls:
        # the last layer with a frame to see
        layer = _choose_layer(
            first, max((index for index, both in enumerate(counts) if any(both)), default=None)
        )
    grids = _grids(sides)
    chosen = [named("norms", by_layer[layer]) for by_layer in by_side]
    large = call(
        patch_norm_map,
        [norms.patches for norms in chosen],
        [norms.outliers for norms in chosen],
        _pictures(sides),
        grids,
        registers=[norms.registers for norms in chosen],
    )
    lengths = [
        call(np.concatenate, [by_layer[index].patches for by_layer in by_side]) for index in range(n_layers)
    ]
    notes = [f"{' + '.join(map(str, both))} framed" if any(both) else "" for both in counts]
    strip = call(layer_patches, call(np.stack, lengths), grids, notes, layer=layer)
    names = _patch_names(grids)
    of_layer = [by_layer[layer] for by_layer in results]
    longest = int(np.concatenate([norms.patches - norms.limit for norms in of_layer]).argmax())
    norms = of_layer[int(longest >= len(of_layer[0].patches))]
    length = np.concatenate([side.patches for side in of_layer])[longest]
    numbers = (format_number(float(n), "#.3g") for n in (length, np.median(norms.patches), norms.limit))
    st.markdown(
        "**Does a patch have an unusually long state, after layer {}?** {} has length {}; half of the patches in its picture have less than {}, "
        "and a frame begins above {}.".format(layer, _in_words(names[longest]), *numbers)
    )
    st.caption(
        f"Stronger colour: longer. {'Layers with frames are noted beside.' if any(map(any, counts)) else 'No layer has a frame here.'}",
        help=f"The limit is the median of the picture's patches in this layer plus {DEVIATIONS} median absolute deviations; the rule is this "
        "project's. See whether framed patches lie on plain ground: large trained ViTs keep there what belongs to the whole picture, unless "
        "registers hold it (Darcet et al. 2024).",
    )
    _draw_layers("norms", large, strip, layer)


def _sides_with_different_pictures(first: Side, second: Side) -> tuple[Side, ...]:
    """Both sides; only the first, after a sentence that says so, if their pictures are the same."""
    if first.subject == second.subject:
        st.markdown("The two inputs are the same picture.")
        return (first,)
    return first, second


def _grids(sides: Sequence[Side]) -> list[tuple[int, int]]:
    grids = (side.record.patch_grid for side in sides)
    return [grid for grid in grids if grid is not None]  # which a picture has


def _pictures(sides: Sequence[Side]) -> list[Expression]:
    return [as_python.seen_picture(side.subject) for side in sides]


def _choose_layer(side: Side, begin: int | None = None) -> int:
    """Draws the control for the layer, at first `begin` or else the last one, and returns the choice."""
    n_layers = side.record.config.n_layers
    return LAYER.choose(range(n_layers), n_layers - 1 if begin is None else begin)


def _patch_names(grids: Sequence[tuple[int, int]]) -> list[str]:
    """Names of the patches of all pictures, of two with that of the picture: "r2c3", or "r2c3, first picture"."""
    names = patch_names(grids)
    if len(grids) == 1:
        return names
    n_first = grids[0][0] * grids[0][1]
    return [f"{name}, {NAMES[int(index >= n_first)]}" for index, name in enumerate(names)]


def _most_alike(cosines: np.ndarray, patch: int, layer: int, names: Sequence[str]) -> str:
    """Sentence with the patches whose states are the most and the least alike to that of `patch`; empty where there is no other."""
    row = cosines[patch].copy()
    row[patch] = np.nan
    if np.isnan(row).all():
        return ""
    phrases = (
        f"{_in_words(names[int(index)])} ({format_number(float(row[index]), '.2f')})"
        for index in (np.nanargmax(row), np.nanargmin(row))
    )
    return f" Most alike after layer {layer}: {'; least: '.join(phrases)}."


def _in_words(name: str) -> str:
    """The patch within a sentence: "r2c3" or, of two pictures, "r2c3 of the first picture"."""
    return name.replace(", ", " of the ")


def _initial_patch_of_chart(subjects: list[LiveSubject], layer: int, patch: int) -> int:
    """The patch that the chart is created with: the chosen patch, unless the choice was a click on the chart itself, which shows
    it already. Then it is the patch of the previous run, so that the unchanged chart is not sent again.
    """
    of, begun, last = st.session_state.get(_BEGUN, (None, patch, patch))
    if of != (subjects, layer) or last != patch:
        begun = patch
    st.session_state[_BEGUN] = (subjects, layer), begun, patch
    return begun


@cached(spinner="Comparing all patches …")
def _patch_cosines(first: LiveSubject, second: LiveSubject, layer: int) -> np.ndarray:
    """Cosines [patch, patch] of the states after `layer`, over the patches of both pictures."""
    if first == second:
        return patch_similarity(first.record, layer)
    own, other = (patch_similarity(subject.record, layer) for subject in (first, second))
    between = patch_similarity(first.record, layer, second.record)
    return np.block([[own, between], [between.T, other]])


@cached(spinner="Finding the principal components …")
def _patch_colours(first: LiveSubject, second: LiveSubject) -> tuple[PatchColours, ...]:
    return patch_colours_by_layer(first.record, None if first == second else second.record)


def _draw_layers(name: str, large: Expression, small: Expression, layer: int) -> None:
    """Draws the chosen layer's figure `large`, and beside it all layers in `small`; a click on one chooses it."""
    with st.container(horizontal=True, gap="medium"):
        with st.container(key=f"large_{name}"):
            show(large, key=f"patch_{name}", height="stretch")
        with st.container(width="content"):
            clickable(
                small,
                key=f"patch_{name}_layers",
                chosen=layer,
                selection="layer",
                take=lambda point: LAYER.take(int(point["layer"])),
                width="content",
            )
