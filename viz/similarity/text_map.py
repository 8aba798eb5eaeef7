"""Which patches of a picture match a text: what each patch adds to the text's logit."""

from textwrap import wrap

import numpy as np

from ..attention.picture_patches import SMALL_SIDE, signed_patches
from ..builders.figure import VegaFigure
from ..builders.number_format import format_number, percent
from ..builders.theme import heading

WHAT = "adds to the logit of the text"
_LETTER = 8.5  # pixels, of a heading


def text_map(
    image: np.ndarray,
    shares: np.ndarray,
    patch_grid: tuple[int, int],
    *,
    text: str,
    elsewhere: float,
    probability: float,
    limit: float,
    side: int = SMALL_SIDE,
    has_legend: bool = True,
) -> VegaFigure:
    """A picture `image`, uint8 [height, width, 3], over what each patch adds to the logit of a `text`: `shares`
    [patch], gold above 0 and purple below.

    Above it stand the text, its logit (the sum of all `shares` and of `elsewhere`, what no patch adds), and its
    `probability`. The colours end at ±`limit`, which should be the same for texts that are compared. The picture's
    longer side has `side` pixels.

    >>> import numpy as np
    >>> from loupe import text_map
    >>> image, shares = np.zeros((32, 32, 3), np.uint8), np.array([0.5, -0.2, 0.1, 0.0])
    >>> len(text_map(image, shares, (2, 2), text="a cat", elsewhere=1.0, probability=0.9, limit=0.5).frame)
    4
    """
    total = float(shares.sum())
    logit = format_number(total + elsewhere, ".2f")
    title = wrap(text, max(8, int(side / _LETTER)), max_lines=2, placeholder=" …")
    return signed_patches(
        image,
        shares,
        patch_grid,
        limit=limit,
        what=WHAT,
        name="share",
        side=side,
        has_legend=has_legend,
        title=heading(
            title,
            f"logit {logit} · probability {percent(probability)}",
            f"patches {format_number(total, '+.2f')}, no patch {format_number(elsewhere, '+.2f')}",
        ),
        description=f"The picture over what each of {len(shares)} patches adds to the logit {logit} of the text {text}",
    )
