"""A drawing as a short code for the address, and back.

16 grey levels, two pixels per byte, deflated, in URL-safe base64: 100 to 300 characters.
"""

import base64
import binascii
import zlib

import numpy as np

SIDE = 28
N_BYTES = SIDE * SIDE // 2
BLANK = np.zeros((SIDE, SIDE), np.uint8)


def to_code(image: np.ndarray) -> str:
    """Code of an image uint8 [28, 28], rounded to the 16 levels 0, 17, ... 255; "" for a blank one."""
    if not image.any():
        return ""
    levels = np.round(image.ravel() / 17).astype(np.uint8)
    packed = zlib.compress((levels[::2] << 4 | levels[1::2]).tobytes(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_code(code: str) -> np.ndarray:
    """Image uint8 [28, 28] of a code. Raises ValueError, with a one-sentence message, if the code is damaged."""
    if not code:
        return BLANK
    damaged = ValueError("The drawing in this address is damaged, so the canvas starts empty.")
    try:
        packed = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        inflating = zlib.decompressobj()
        content = inflating.decompress(packed, N_BYTES + 1)  # and never more: an address can hold a bomb
    except (binascii.Error, ValueError, zlib.error) as error:
        raise damaged from error
    if len(content) != N_BYTES or not inflating.eof:
        raise damaged
    packed_pixels = np.frombuffer(content, np.uint8)
    return (
        (np.stack((packed_pixels >> 4, packed_pixels & 15), axis=1) * 17).astype(np.uint8).reshape(SIDE, SIDE)
    )
