"""What the patches of a picture resemble: cosines of their states, colours of their principal components, and their lengths.

All are of the residual stream behind one layer, as a record holds it: in pre-LN before the next norm.

Some patches have states far longer than all others; they hold what belongs to the whole picture (Darcet et al. 2024, "Vision Transformers
Need Registers"). Here those are outliers whose length is above the layer's median by more than six median absolute deviations; the
rule is this project's.
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
    """Cosine similarity of the states of every two patches behind a layer, -1 to 1; with `other`, of this picture's and the other's.

    Patches go row by row; NaN for a state of zeros. Raises ValueError for a layer that there is not, a record of a text, and one of
    states of another width.

    >>> import numpy as np
    >>> from loupe import capture, load, patch_similarity
    >>> record = capture(load("checkpoints/mnist-pre-ln"), np.eye(28, dtype=np.uint8) * 255)
    >>> patch_similarity(record, layer=0).shape
    (49, 49)
    """
    a, b = (_states(side, layer) for side in (record, other or record))
    _need_one_width(a, b)
    return cosine_similarities(a, b)


@dataclass(frozen=True, slots=True, eq=False)
class PatchColours:
    """The first three principal components of the patches' states behind one layer, as red, green and blue."""

    colours: Float64[
        np.ndarray, "patch 3"
    ]  # each component from 0, the smallest of the picture, or of both, to 1, the largest
    explained: Float64[np.ndarray, " 3"]  # share of the variance; zeros where nothing varies


def patch_colours(record: ForwardRecord, layer: int, other: ForwardRecord | None = None) -> PatchColours:
    """Three colours of each patch: the coordinates of its state along the directions of largest variance over the picture.

    With `other` the directions are those of the patches of both pictures, whose colours are so comparable: this picture's come first.
    A component's sign is arbitrary. In layer 0 the coordinate farthest from 0 is positive; in each further layer a component has the
    sign by which its coordinates agree best with those of the layer before, so that colours do not flip. Raises ValueError as
    `patch_similarity` does.

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
    """`patch_colours` of all layers, which takes no longer than those of the last one."""
    return tuple(_colours_by_layer(record, other))


def _colours_by_layer(record: ForwardRecord, other: ForwardRecord | None) -> Iterator[PatchColours]:
    before = None
    for layer in range(record.config.n_layers):
        states = [_states(side, layer) for side in (record, other) if side is not None]
        _need_one_width(*states)
        components, explained = _principal_components(np.concatenate(states))
        farthest = np.take_along_axis(components, np.abs(components).argmax(axis=0)[None], axis=0)[0]
        agreement = farthest if before is None else (components * before).sum(axis=0)
        before = components = components * np.where(agreement < 0, -1.0, 1.0)
        lowest, spread = components.min(axis=0), np.ptp(components, axis=0)
        yield PatchColours((components - lowest) / np.where(spread > 0, spread, 1), explained)


@dataclass(frozen=True, slots=True, eq=False)
class PatchNorms:
    """Lengths of the states behind one layer, and the patches whose states are far longer than the others."""

    patches: Float64[np.ndarray, " patch"]
    registers: Float64[np.ndarray, " register"]
    limit: float  # median + 6 · median absolute deviation, of the patches
    outliers: tuple[int, ...]  # patches above the limit, by index


def patch_norms(record: ForwardRecord, layer: int) -> PatchNorms:
    """Euclidean lengths of the states of patches and registers behind a layer. Raises ValueError as `patch_similarity` does.

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
    """The residual stream behind a layer, at the patches."""
    if record.patch_grid is None:
        raise ValueError("the record is of a text, which has no patches")
    if layer not in range(record.config.n_layers):
        raise ValueError(f"the layers are 0 to {record.config.n_layers - 1}, got {layer}")
    return record.residual[2 + 2 * layer][record.patches].astype(np.float64)


def _need_one_width(a: np.ndarray, b: np.ndarray | None = None) -> None:
    if b is not None and a.shape[1] != b.shape[1]:
        raise ValueError(
            f"states of {a.shape[1]} and of {b.shape[1]} numbers cannot be compared: are both of one encoder?"
        )


def _principal_components(
    states: Float64[np.ndarray, "patch d_model"],
) -> tuple[Float64[np.ndarray, "patch 3"], Float64[np.ndarray, " 3"]]:
    """Coordinates of the states along the first three components, and each one's share of the variance; zeros where there is none."""
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
