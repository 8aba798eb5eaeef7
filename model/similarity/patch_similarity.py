"""Similarity of the patches of a picture: cosines of their states, principal components as colours, and norms.

All are of the residual stream after one layer, as a record holds it: in pre-LN before the next norm.

The states of some patches have far larger norms than all others, and hold information on the whole picture (Darcet et al. 2024,
"Vision Transformers Need Registers"). Here a patch is such an outlier if its norm is above the median of the layer by more than
six median absolute deviations, a rule of this project.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy.linalg
from jaxtyping import Float64

from ..experiments.embeddings import cosine_similarities
from ..experiments.residual_stream import norms
from ..record import ForwardRecord

DEVIATIONS = 6  # median absolute deviations above the median
LEAST_SHARE = 1e-10  # of the variance: a component with less is rounding
ROUNDING = 1e-6  # of the median: by less no length is above it


def patch_similarity(
    record: ForwardRecord, layer: int, other: ForwardRecord | None = None
) -> Float64[np.ndarray, "patch other_patch"]:
    """Cosine similarity, -1 to 1, of the states after `layer` of every two patches of a picture, or of a picture and the `other` one.

    Patches are in order row by row; NaN for a state of zeros. Raises ValueError for a layer that does not exist, for a record of a
    text, and for two records whose states differ in width.

    >>> import numpy as np
    >>> from loupe import capture, load, patch_similarity
    >>> record = capture(load("checkpoints/mnist-pre-ln"), np.eye(28, dtype=np.uint8) * 255)
    >>> patch_similarity(record, layer=0).shape
    (49, 49)
    """
    a, b = (_states(side, layer) for side in (record, other or record))
    _check_same_width(a, b)
    return cosine_similarities(a, b)


@dataclass(frozen=True, slots=True, eq=False)
class PatchColours:
    """Coordinates of the patches' states after one layer along their first three principal components, shown as red, green, blue."""

    colours: Float64[
        np.ndarray, "patch 3"
    ]  # each component from 0, the smallest of the picture, or of both, to 1, the largest
    explained_variance: Float64[np.ndarray, " 3"]  # share of the variance; zeros where nothing varies


def patch_colours(record: ForwardRecord, layer: int, other: ForwardRecord | None = None) -> PatchColours:
    """The colour of each patch: coordinates of its state after `layer` along the three directions of largest variance over patches.

    With `other` the directions are those of the patches of both pictures together, so that colours are comparable, and the patches
    of `other` follow those of `record`. A component's sign is arbitrary. In layer 0 the coordinate farthest from 0 is positive; in
    each further layer the sign of a component is that by which its coordinates agree best with those of the layer before, so that
    colours do not flip. Raises ValueError as `patch_similarity` does.

    >>> import numpy as np
    >>> from loupe import capture, load, patch_colours
    >>> record = capture(load("checkpoints/mnist-pre-ln"), np.eye(28, dtype=np.uint8) * 255)
    >>> patch_colours(record, layer=0).colours.shape
    (49, 3)
    """
    for side in (record, other or record):
        _states(side, layer)  # refused before the layers below are computed
    return next(islice(_colours_by_layer(record, other), layer, None))


def patch_colours_by_layer(
    record: ForwardRecord, other: ForwardRecord | None = None
) -> tuple[PatchColours, ...]:
    """`patch_colours` of every layer; takes no longer than `patch_colours` of the last one, which computes them all."""
    return tuple(_colours_by_layer(record, other))


def _colours_by_layer(record: ForwardRecord, other: ForwardRecord | None) -> Iterator[PatchColours]:
    before = None
    for layer in range(record.config.n_layers):
        states = [_states(side, layer) for side in (record, other) if side is not None]
        _check_same_width(*states)
        components, explained_variance = _principal_components(np.concatenate(states))
        farthest = np.take_along_axis(components, np.abs(components).argmax(axis=0)[None], axis=0)[0]
        agreement = farthest if before is None else (components * before).sum(axis=0)
        before = components = components * np.where(agreement < 0, -1.0, 1.0)
        lowest, spread = components.min(axis=0), np.ptp(components, axis=0)
        yield PatchColours((components - lowest) / np.where(spread > 0, spread, 1), explained_variance)


@dataclass(frozen=True, slots=True, eq=False)
class PatchNorms:
    """Euclidean norms of the states after one layer, and the patches with far larger norms than the others (`outliers`)."""

    patches: Float64[np.ndarray, " patch"]
    registers: Float64[np.ndarray, " register"]
    limit: float  # median + 6 · median absolute deviation, of the patches
    outliers: tuple[int, ...]  # patches above the limit, by index


def patch_norms(record: ForwardRecord, layer: int) -> PatchNorms:
    """Euclidean norms of the states of patches and registers after `layer`. Raises ValueError as `patch_similarity` does.

    >>> import numpy as np
    >>> from loupe import capture, load, patch_norms
    >>> record = capture(load("checkpoints/mnist-pre-ln"), np.eye(28, dtype=np.uint8) * 255)
    >>> patch_norms(record, layer=0).patches.shape
    (49,)
    """
    patches = norms(_states(record, layer))
    registers = norms(record.residual[2 + 2 * layer][[*record.positions_with_role("register")]])
    median = float(np.median(patches))
    limit = median + DEVIATIONS * float(np.median(np.abs(patches - median)))
    outliers = np.flatnonzero(patches > limit + ROUNDING * median)
    return PatchNorms(patches, registers.astype(float), limit, tuple(outliers.tolist()))


def _states(record: ForwardRecord, layer: int) -> Float64[np.ndarray, "patch d_model"]:
    """The residual stream after `layer`, at the patches."""
    if record.patch_grid is None:
        raise ValueError("the record is of a text, which has no patches")
    if layer not in range(record.config.n_layers):
        raise ValueError(f"the layers are 0 to {record.config.n_layers - 1}, got {layer}")
    return record.residual[2 + 2 * layer][record.patches].astype(np.float64)


def _check_same_width(a: np.ndarray, b: np.ndarray | None = None) -> None:
    if b is not None and a.shape[1] != b.shape[1]:
        raise ValueError(
            f"states of {a.shape[1]} and of {b.shape[1]} numbers cannot be compared: are both of one encoder?"
        )


def _principal_components(
    states: Float64[np.ndarray, "patch d_model"],
) -> tuple[Float64[np.ndarray, "patch 3"], Float64[np.ndarray, " 3"]]:
    """Coordinates of the states along the first three principal components, and the share of the variance along each.

    Zeros for components along which the states do not vary.
    """
    centred = states - states.mean(axis=0)
    width = states.shape[1]
    n = min(3, width)
    variances, directions = scipy.linalg.eigh(centred.T @ centred, subset_by_index=(width - n, width - 1))
    components, explained = np.zeros((len(states), 3)), np.zeros(3)
    shares = variances[::-1] / max(float((centred**2).sum()), np.finfo(float).tiny)
    varies = np.flatnonzero((shares > LEAST_SHARE) & (states != states[0]).any())
    components[:, varies] = centred @ directions[:, ::-1][:, varies]
    explained[varies] = shares[varies]
    return components, explained
