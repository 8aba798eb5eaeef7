"""What a patch of a picture resembles: the cosine of every patch with it, laid out as the patches are."""

import numpy as np

from ..builders.figure import VegaFigure
from ..positions.position_heatmaps import position_similarity_map


def patch_map(
    cosines: np.ndarray, patch_grid: tuple[int, int], patch: int, *, other_picture: bool = False
) -> VegaFigure:
    """A map of the cosine similarities [patch, other_patch] of one `patch`, by index, with all patches of the grid (rows, columns).

    `cosines` are those that `patch_similarity` returns. The patch is outlined, unless the grid is that of an `other_picture`. Raises
    ValueError for a patch that there is not, and for cosines that do not fit the grid.

    >>> import numpy as np
    >>> from loupe import capture, load, patch_map, patch_similarity
    >>> record = capture(load("checkpoints/mnist-pre-ln"), np.eye(28, dtype=np.uint8) * 255)
    >>> len(patch_map(patch_similarity(record, layer=0), record.patch_grid, patch=24).frame)
    49
    """
    n_patches, n_others = cosines.shape
    rows, columns = patch_grid
    if n_others != rows * columns:
        raise ValueError(f"a grid of {rows} × {columns} patches has no {n_others} cosines")
    if patch not in range(n_patches):
        raise ValueError(f"the patches are 0 to {n_patches - 1}, got {patch}")
    row, column = divmod(patch, columns)
    return position_similarity_map(
        cosines[patch],
        patch_grid,
        name=f"patch {patch} of another picture" if other_picture else f"r{row}c{column}",
        selected=None if other_picture else patch,
        of="state",
    )
