"""Reads a picture file as an array of pixels, and resizes it by the settings in `preprocessor_config.json`."""

import struct
from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image, ImageOps, UnidentifiedImageError

from ..config import ModelConfig, two_sides
from ..family_options import Pixels, Resample

FORMATS = ("PNG", "JPEG", "WEBP", "BMP")
MOST_PIXELS = 16_000_000  # what telephones take; more would only cost memory
MOST_SIDE = 20_000  # a line of one pixel is no picture, and enlarged to a square it would fill the memory
RESAMPLE: tuple[Resample, ...] = ("nearest", "lanczos", "bilinear", "bicubic")  # as Pillow numbers them
LARGEST_SIDE = 1024
SMALLEST = 1e-6  # by which pixels are divided
ASSUMED = "There is no preprocessor_config.json: pictures are resized bilinearly, and pixels normalised with mean 0.5 and standard deviation 0.5."


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


def read_pixel_settings(values: Mapping[str, Any] | None, n_channels: int) -> tuple[Pixels, str | None]:
    """How pictures are resized, cropped and normalised, from the `values` of `preprocessor_config.json`.

    If `values` is None, as there is no file, usual settings are assumed, and a sentence says which; else that sentence is None.
    Raises ValueError for invalid values.
    """
    if values is None:
        return Pixels(means=(0.5,) * n_channels, deviations=(0.5,) * n_channels), ASSUMED
    is_normalised = values.get("do_normalize", True)
    means = _read_numbers(values, "image_mean", n_channels, 0.5) if is_normalised else (0.0,) * n_channels
    deviations = _read_numbers(values, "image_std", n_channels, 0.5) if is_normalised else (1.0,) * n_channels
    if values.get("do_rescale", True):
        factor = values.get("rescale_factor", 1 / 255)
        if not isinstance(factor, int | float) or not SMALLEST <= factor < 1e3:
            raise ValueError(f"preprocessor_config.json has rescale_factor {shortened(factor)}")
    else:
        factor = 1.0
    if not all(abs(deviation) >= SMALLEST for deviation in deviations):
        raise ValueError(f"pixels cannot be divided by an image_std of {shortened(deviations)}")
    # pixels are kept from 0 to 1 here, so another factor is put into mean and deviation
    scale = factor * 255
    resample = values.get("resample", 2)
    if not isinstance(resample, int) or not 0 <= resample < len(RESAMPLE):
        raise ValueError(
            f"preprocessor_config.json has resample {shortened(resample)}; supported are [0, 1, 2, 3]"
        )
    return Pixels(
        means=tuple(mean / scale for mean in means),
        deviations=tuple(deviation / scale for deviation in deviations),
        resample=RESAMPLE[resample],
        resized=_read_size(values) if values.get("do_resize", True) else None,
        cropped=bool(values.get("do_center_crop", False)),
    ), None


def picture_sides(values: Mapping[str, Any] | None, default: tuple[int, int]) -> tuple[int, int]:
    """Height and width in pixels of what an encoder reads: to which `preprocessor_config.json` crops or resizes pictures.

    They are `default` where the file does not say both. Raises ValueError for an invalid size.
    """
    if values is None:
        return default
    if values.get("do_center_crop", False):
        sides = _read_size(values, "crop_size")
    else:
        sides = _read_size(values) if values.get("do_resize", True) else None
    return sides if isinstance(sides, tuple) else default


def _read_numbers(values: Mapping[str, Any], name: str, n: int, default: float) -> tuple[float, ...]:
    numbers = values.get(name, [default] * n)
    numbers = [numbers] * n if isinstance(numbers, int | float) else numbers
    if (
        not isinstance(numbers, list)
        or len(numbers) != n
        or not all(isinstance(number, int | float) and abs(number) < 1e6 for number in numbers)
    ):
        raise ValueError(
            f"preprocessor_config.json has {name} {shortened(numbers)}, which must be {n} numbers"
        )
    return tuple(map(float, numbers))


def _read_size(values: Mapping[str, Any], name: str = "size") -> tuple[int, int] | int | None:
    """Size to which pictures are resized: (height, width), the length of the shorter side, or None for no size.

    Raises ValueError for an invalid size.
    """
    size = values.get(name)
    sides: tuple | int | None = None
    if isinstance(size, dict) and {"height", "width"} <= set(size):
        sides = (size["height"], size["width"])
    elif isinstance(size, dict) and "shortest_edge" in size:
        sides = size["shortest_edge"]
    elif size is not None:  # older files: one number, of a square
        sides = (size, size)
    sides_to_check = () if sides is None else sides if isinstance(sides, tuple) else (sides,)
    if not all(type(side) is int and 1 <= side <= LARGEST_SIDE for side in sides_to_check):
        raise ValueError(f"preprocessor_config.json has {name} {shortened(size)}")
    return sides


def resized(
    picture: UInt8[np.ndarray, "height width *channel"], config: ModelConfig
) -> Float32[np.ndarray, "{config.image_sides[0]} {config.image_sides[1]} *colour"]:
    """The picture, resized and cropped to the encoder's size with Pillow, as in training; values are from 0 to 1."""
    pixels = config.family.pixels
    assert pixels is not None
    read_height, read_width = config.image_sides
    height, width = (
        side + rest for side, rest in zip(config.image_sides, two_sides(pixels.remainder), strict=True)
    )
    resampling = Image.Resampling[pixels.resample.upper()]
    image = Image.fromarray(picture)
    image = image.convert("RGB" if config.n_channels == 3 else "L")
    target_size = pixels.resized
    if isinstance(target_size, int):  # the shorter side; the other keeps the proportions
        shorter_side = min(image.size)
        target_size = (
            max(1, min(LARGEST_SIDE, int(target_size * image.height / shorter_side))),
            max(1, min(LARGEST_SIDE, int(target_size * image.width / shorter_side))),
        )
    if target_size is not None and (target_size[1], target_size[0]) != image.size:
        image = image.resize((target_size[1], target_size[0]), resampling)
    if pixels.cropped:
        left, top = (image.width - width) // 2, (image.height - height) // 2
        image = image.crop((left, top, left + width, top + height))  # with black around, where it is smaller
    if image.size != (width, height):
        image = image.resize((width, height), resampling)
    return np.asarray(image.crop((0, 0, read_width, read_height)), np.float32) / 255
