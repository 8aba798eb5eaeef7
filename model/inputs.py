"""What goes into an encoder, and what each of its positions is called."""

import numpy as np
import torch
from torch import Tensor

from model.checkpoint import Loaded
from model.digits import to_input
from model.text import encode


def prepare(loaded: Loaded, text_or_image: str | np.ndarray) -> tuple[Tensor, tuple[str, ...]]:
    """The encoder's input, a batch of one on its device, and a name for each position."""
    config = loaded.config
    if config.is_text != isinstance(text_or_image, str):
        kind = "text" if config.is_text else "an image"
        raise ValueError(f"{loaded.name} takes {kind}, got {type(text_or_image).__name__}")
    if config.is_text:
        encoded = encode(loaded.tokenizer, text_or_image)
        if not encoded.ids:
            raise ValueError(f"{loaded.name} finds no token in this text")
        return torch.tensor([encoded.ids], device=loaded.device), encoded.tokens
    if text_or_image.dtype != np.uint8 or text_or_image.ndim != 2 or not text_or_image.size:
        shape, dtype = text_or_image.shape, text_or_image.dtype
        raise ValueError(f"an image is uint8 of [height, width], got {dtype} of {shape}")
    rows, columns = config.patch_grid
    patches = tuple(f"r{row}c{column}" for row in range(rows) for column in range(columns))
    first = ("[CLS]",) if config.pooling == "class" else ()
    return to_input(text_or_image[None], config).to(loaded.device), first + patches
