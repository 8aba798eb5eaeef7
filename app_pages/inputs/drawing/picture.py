"""A picture of a digit, prepared as MNIST's own digits were.

White ink on black, 20 pixels at its longer side, the centre of mass in the middle of 28×28 pixels
(LeCun et al. 1998, section III.A).
"""

import io
import struct
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from app_pages.inputs.drawing.code import BLANK, SIDE
from model.inputs.picture_file import FORMATS, MOST_PIXELS, MOST_SIDE

INK_SIDE = 20
LONGER_SIDE = 1024  # encoders read some 224; what is kept of a picture counts in the memory of all sessions
FAINT = 0.2  # paper is never one grey; what is this close to it is not ink


def from_file(content: bytes) -> np.ndarray:
    """uint8 [28, 28]. Raises ValueError, in one sentence, where it is no picture, too large, or has no ink."""
    return centred(ink(_decoded(content, _grey)))


def in_colour(content: bytes) -> np.ndarray:
    """uint8 [height, width, 3], as it is, or smaller: its longer side has at most `LONGER_SIDE` pixels.

    Raises ValueError, in one sentence, where it is no picture, or too large.
    """
    return _decoded(content, _colours)


def _decoded(content: bytes, how: Callable[[Image.Image], np.ndarray]) -> np.ndarray:
    try:
        picture = Image.open(io.BytesIO(content), formats=FORMATS)  # reads the size, not the pixels
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError("This picture is too large: it has over 80 million pixels.") from None
    except (UnidentifiedImageError, OSError, ValueError):
        raise ValueError(f"This file is not a picture; {', '.join(FORMATS)} can be read.") from None
    if picture.width * picture.height > MOST_PIXELS:
        most = MOST_PIXELS // 1_000_000
        raise ValueError(
            f"This picture is too large: {picture.width} × {picture.height} pixels, at most {most} million can be read."
        )
    if max(picture.size) > MOST_SIDE:
        sides = f"{picture.width} × {picture.height} pixels, at most {MOST_SIDE:,} a side can be read"
        raise ValueError(f"This picture is too long: {sides}.")
    try:
        return how(ImageOps.exif_transpose(picture))
    except (OSError, ValueError, SyntaxError, struct.error) as error:  # the decoders raise all of these
        raise ValueError(f"This picture is damaged: {error}.") from error


def _colours(picture: Image.Image) -> np.ndarray:
    """What is transparent is white."""
    if picture.has_transparency_data:
        paper = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(paper, picture.convert("RGBA"))
    picture = picture.convert("RGB")
    picture.thumbnail((LONGER_SIDE, LONGER_SIDE), Image.Resampling.LANCZOS)
    return np.asarray(picture)


def _grey(picture: Image.Image) -> np.ndarray:
    """float32 [height, width] from 0 to 255. What is transparent is white, or black where that shows more."""
    if picture.mode.startswith("I"):  # 16 bits
        return np.asarray(picture, np.float32) / 257
    if not picture.has_transparency_data:
        return np.asarray(picture.convert("L"), np.float32)
    papers = (Image.new("RGBA", picture.size, colour) for colour in ("white", "black"))
    greys = (Image.alpha_composite(paper, picture.convert("RGBA")).convert("L") for paper in papers)
    return max((np.asarray(grey, np.float32) for grey in greys), key=np.ptp)


def ink(grey: np.ndarray) -> np.ndarray:
    """How far each pixel is from the paper, 0 to 255; the paper is the median of the border."""
    border = np.concatenate((grey[0], grey[-1], grey[:, 0], grey[:, -1]))
    away = np.abs(grey - np.median(border))
    strongest = away.max()
    if strongest < 16:
        raise ValueError("There is no digit to see in this picture: it is one grey all over.")
    away /= strongest
    return (np.where(away < FAINT, 0, away) * 255).astype(np.uint8)


def centred(image: np.ndarray) -> np.ndarray:
    """uint8 [28, 28] with the ink of `image` [height, width] at MNIST's size and place; blank stays blank."""
    rows, columns = np.nonzero(image.any(axis=1))[0], np.nonzero(image.any(axis=0))[0]
    if not len(rows):
        return BLANK
    box = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    times = INK_SIDE / max(box.shape)
    size = [max(1, round(side * times)) for side in box.shape[::-1]]
    fine = Image.fromarray(box.astype(np.float32))
    weight = np.asarray(
        fine.resize(size, Image.Resampling.BOX if times < 1 else Image.Resampling.BILINEAR), np.float64
    )
    # The thinner a line, the more paper is averaged in: as in MNIST the strongest ink is full.
    small = np.round(weight * (255 / weight.max())).astype(np.uint8)
    centre = [
        (np.arange(n) * weight.sum(axis=1 - axis)).sum() / weight.sum() for axis, n in enumerate(small.shape)
    ]
    top, left = (
        int(np.clip(round((SIDE - 1) / 2 - middle), 0, SIDE - n))
        for middle, n in zip(centre, small.shape, strict=True)
    )
    whole = BLANK.copy()
    whole[top : top + small.shape[0], left : left + small.shape[1]] = small
    return whole
