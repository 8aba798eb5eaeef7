"""A picture of a digit, preprocessed as MNIST's digits were.

White ink on black, 20 pixels on its longer side, the centre of mass in the middle of 28×28 pixels
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
    """Digit uint8 [28, 28] from the `content` of a picture file.

    Raises ValueError, with a one-sentence message, if the file is no picture, too large, or without ink.
    """
    return centred(ink(_decoded(content, _grey)))


def in_colour(content: bytes) -> np.ndarray:
    """Picture uint8 [height, width, 3] from a file, reduced to at most `LONGER_SIDE` pixels on its longer side.

    Raises ValueError, with a one-sentence message, if the file is no picture, or too large.
    """
    return _decoded(content, _colours)


def _decoded(content: bytes, convert: Callable[[Image.Image], np.ndarray]) -> np.ndarray:
    try:
        picture = Image.open(io.BytesIO(content), formats=FORMATS)  # reads the size, not the pixels
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError("This picture is too large: it has over 80 million pixels.") from None
    except (UnidentifiedImageError, OSError, ValueError):
        raise ValueError(f"This file is not a picture; {', '.join(FORMATS)} can be read.") from None
    if picture.width * picture.height > MOST_PIXELS:
        millions = MOST_PIXELS // 1_000_000
        raise ValueError(
            f"This picture is too large: {picture.width} × {picture.height} pixels, at most {millions} million can be read."
        )
    if max(picture.size) > MOST_SIDE:
        size_text = f"{picture.width} × {picture.height} pixels, at most {MOST_SIDE:,} a side can be read"
        raise ValueError(f"This picture is too long: {size_text}.")
    try:
        return convert(ImageOps.exif_transpose(picture))
    except (OSError, ValueError, SyntaxError, struct.error) as error:  # the decoders raise all of these
        raise ValueError(f"This picture is damaged: {error}.") from error


def _colours(picture: Image.Image) -> np.ndarray:
    """RGB values of the picture; transparent pixels become white."""
    if picture.has_transparency_data:
        paper = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(paper, picture.convert("RGBA"))
    picture = picture.convert("RGB")
    picture.thumbnail((LONGER_SIDE, LONGER_SIDE), Image.Resampling.LANCZOS)
    return np.asarray(picture)


def _grey(picture: Image.Image) -> np.ndarray:
    """Grey values float32 [height, width], 0 to 255; transparent pixels become white or black, whichever has more contrast."""
    if picture.mode.startswith("I"):  # 16 bits
        return np.asarray(picture, np.float32) / 257
    if not picture.has_transparency_data:
        return np.asarray(picture.convert("L"), np.float32)
    papers = (Image.new("RGBA", picture.size, colour) for colour in ("white", "black"))
    greys = (Image.alpha_composite(paper, picture.convert("RGBA")).convert("L") for paper in papers)
    return max((np.asarray(grey, np.float32) for grey in greys), key=np.ptp)


def ink(grey: np.ndarray) -> np.ndarray:
    """Ink uint8 [height, width]: each pixel's distance from the paper, the median of the border, scaled to 255."""
    border = np.concatenate((grey[0], grey[-1], grey[:, 0], grey[:, -1]))
    distance = np.abs(grey - np.median(border))
    largest = distance.max()
    if largest < 16:
        raise ValueError("There is no digit to see in this picture: it is one grey all over.")
    distance /= largest
    return (np.where(distance < FAINT, 0, distance) * 255).astype(np.uint8)


def centred(image: np.ndarray) -> np.ndarray:
    """Image uint8 [28, 28] with the digit in `image` [height, width] scaled and centred as in MNIST; a blank one stays blank."""
    rows, columns = np.nonzero(image.any(axis=1))[0], np.nonzero(image.any(axis=0))[0]
    if not len(rows):
        return BLANK
    box = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    factor = INK_SIDE / max(box.shape)
    size = [max(1, round(side * factor)) for side in box.shape[::-1]]
    picture = Image.fromarray(box.astype(np.float32))
    resized = np.asarray(
        picture.resize(size, Image.Resampling.BOX if factor < 1 else Image.Resampling.BILINEAR), np.float64
    )
    # The thinner a line, the more paper is averaged in: as in MNIST the strongest ink is full.
    digit = np.round(resized * (255 / resized.max())).astype(np.uint8)
    centre = [
        (np.arange(n) * resized.sum(axis=1 - axis)).sum() / resized.sum()
        for axis, n in enumerate(digit.shape)
    ]
    top, left = (
        int(np.clip(round((SIDE - 1) / 2 - middle), 0, SIDE - n))
        for middle, n in zip(centre, digit.shape, strict=True)
    )
    result = BLANK.copy()
    result[top : top + digit.shape[0], left : left + digit.shape[1]] = digit
    return result
