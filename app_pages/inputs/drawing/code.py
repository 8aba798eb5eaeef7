"""A drawing as a short piece of an address, and back.

16 grey levels, two pixels a byte, deflated, in the base64 that addresses may hold: 100 to 300 characters.
"""

import base64
import binascii
import zlib

import numpy as np

SIDE = 28
N_BYTES = SIDE * SIDE // 2
BLANK = np.zeros((SIDE, SIDE), np.uint8)


def to_code(image: np.ndarray) -> str:
    """From uint8 [28, 28]; the empty string where nothing is drawn. Rounds to the 16 levels 0, 17, ... 255."""
    if not image.any():
        return ""
    levels = np.round(image.ravel() / 17).astype(np.uint8)
    packed = zlib.compress((levels[::2] << 4 | levels[1::2]).tobytes(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_code(code: str) -> np.ndarray:
    """To uint8 [28, 28]. Raises ValueError, in one sentence, where the code was cut, changed or made up."""
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
    pairs = np.frombuffer(content, np.uint8)
    return (np.stack((pairs >> 4, pairs & 15), axis=1) * 17).astype(np.uint8).reshape(SIDE, SIDE)
