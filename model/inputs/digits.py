"""Reads MNIST files, and converts pictures to an encoder's input tensors and back."""

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor
from torch.nn import functional

from ..config import ModelConfig
from .picture_file import resized

GREY = (0.299, 0.587, 0.114)  # how bright red, green and blue are (ITU-R BT.601)
EXAMPLES = Path(__file__).parents[2] / "examples"


def read_idx(path: Path) -> np.ndarray:
    """Reads an idx file of MNIST, gzipped or not, as a uint8 array. Raises ValueError if it is damaged or of another format."""
    content = path.read_bytes()
    try:
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        magic, n_axes = struct.unpack_from(">3sB", content)
        shape = struct.unpack_from(f">{n_axes}I", content, offset=4)
    except (gzip.BadGzipFile, EOFError, zlib.error, struct.error) as error:
        raise ValueError(f"{path.name} is not a whole idx file: {error}") from error
    if magic != b"\0\0\x08":  # two zeros, then the type: unsigned bytes
        raise ValueError(f"{path.name} is not an idx file of bytes")
    values = np.frombuffer(content, np.uint8)[4 + 4 * n_axes :]
    if values.size != math.prod(shape):
        raise ValueError(f"{path.name} promises {shape} bytes and holds {values.size}")
    return values.reshape(shape)


def read_mnist(
    folder: Path, part: str
) -> tuple[UInt8[np.ndarray, "digit 28 28"], UInt8[np.ndarray, " digit"]]:
    """Images and labels of MNIST, read from files anywhere below `folder`; `part` is "train" or "t10k".

    Raises FileNotFoundError if a file is missing, and ValueError if it is damaged.
    """
    images, labels = (
        read_idx(next(iter(sorted(folder.rglob(f"{part}-{kind}*"))), folder / f"{part}-{kind}"))
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte")
    )
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise ValueError(f"images of {images.shape} and labels of {labels.shape} do not belong together")
    return images, labels


def examples() -> tuple[UInt8[np.ndarray, "digit 28 28"], UInt8[np.ndarray, " digit"]]:
    """Images and labels of the MNIST test digits that come with the project."""
    return read_mnist(EXAMPLES, "t10k")


def to_input(
    images: UInt8[np.ndarray, "picture height width *colour"], config: ModelConfig
) -> Float[Tensor, "picture *channel {config.image_sides[0]} {config.image_sides[1]}"]:
    """Converts pictures to the encoder's size and number of colours, with values from 0 to 1.

    For an encoder of grey pictures, colours are replaced by their brightness; otherwise grey is repeated for each colour.
    """
    if config.is_imported:
        pixels = torch.from_numpy(np.stack([resized(np.asarray(image), config) for image in images]))
        return pixels if pixels.ndim == 3 else pixels.movedim(-1, 1)
    pixels = torch.from_numpy(np.asarray(images, np.float32)) / 255
    pixels = pixels[:, None] if pixels.ndim == 3 else pixels.movedim(-1, 1)
    if pixels.shape[1] > config.n_channels:
        pixels = torch.einsum("pchw,c->phw", pixels, torch.tensor(GREY))[:, None]
    size = config.image_shape[-2:]
    if pixels.shape[2:] != size:
        pixels = _resized(pixels, size, config.resize)
    return pixels.expand(-1, config.n_channels, -1, -1).reshape(-1, *config.image_shape)


def _resized(
    pixels: Float[Tensor, "picture colour height width"], size: tuple[int, ...], how: str
) -> Float[Tensor, "picture colour {size[0]} {size[1]}"]:
    """Resizes pictures; bicubic as in Pillow with bytes, first to the new width and then to the new height, rounded each time."""
    if how == "bilinear":
        return functional.interpolate(pixels, size, mode="bilinear")
    for target_size in ((pixels.shape[2], size[1]), size):
        pixels = functional.interpolate(pixels, target_size, mode="bicubic", antialias=True)
        pixels = (pixels * 255).round().clamp(0, 255) / 255
    return pixels


def to_pictures(
    inputs: Float[Tensor, "picture *colour height width"],
) -> UInt8[np.ndarray, "picture height width *colour"]:
    """Converts input tensors, or patches of them, back to uint8 pictures; the resizing is not undone."""
    pixels = (inputs * 255).round().to(torch.uint8)
    return (pixels if pixels.ndim == 3 else pixels.movedim(1, -1)).cpu().numpy()


def to_labels(labels: UInt8[np.ndarray, " digit"]) -> Int[Tensor, " digit"]:
    """The labels as a tensor of int64."""
    return torch.from_numpy(labels.astype(np.int64))
