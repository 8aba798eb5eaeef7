"""What a PNG in a data URI shows, pixel by pixel."""

import base64
import io

import numpy as np
from PIL import Image


def pixels(uri: str) -> np.ndarray:
    """uint8 [height, width, 4]: red, green, blue, opacity."""
    head, body = uri.split(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(body))).convert("RGBA"))
