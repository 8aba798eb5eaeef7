"""Reads a picture file as an array of pixels."""

import struct
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

FORMATS = ("PNG", "JPEG", "WEBP", "BMP")
MOST_PIXELS = 16_000_000  # what telephones take; more would only cost memory
MOST_SIDE = 20_000  # a line of one pixel is no picture, and enlarged to a square it would fill the memory


def read_picture(path: str | Path) -> np.ndarray:
    """Reads a picture as a uint8 array [height, width], or [height, width, 3] in colour; transparent parts become white.

    Raises FileNotFoundError if there is no file, and ValueError, with a one-sentence message, if it is not a picture or too
    large.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path.name}")
    try:
        with Image.open(path, formats=FORMATS) as file:  # reads the size, not the pixels
            if file.width * file.height > MOST_PIXELS:
                raise ValueError(f"it has more than {MOST_PIXELS:,} pixels")
            if max(file.size) > MOST_SIDE:
                raise ValueError(f"it has more than {MOST_SIDE:,} pixels a side")
            picture = ImageOps.exif_transpose(file)
            if picture.has_transparency_data:
                background = Image.new("RGBA", picture.size, "white")
                picture = Image.alpha_composite(background, picture.convert("RGBA"))
            is_grey = picture.mode in ("1", "L", "LA") or picture.mode.startswith("I")
            if picture.mode.startswith("I"):  # 16 bits
                return np.clip(np.asarray(picture, np.float32) / 257, 0, 255).astype(np.uint8)
            return np.asarray(picture.convert("L" if is_grey else "RGB"))
    except UnidentifiedImageError:
        raise ValueError(f"{path.name} is not a picture; {', '.join(FORMATS)} can be read") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError(f"{path.name} cannot be read: it has more than {MOST_PIXELS:,} pixels") from None
    except (OSError, ValueError, SyntaxError, struct.error) as error:  # the decoders raise all of these
        raise ValueError(f"{path.name} cannot be read: {' '.join(str(error).split())}") from error
