"""The controls that several parts about sinusoids share: the size of the table, and a position in it."""

from app_pages.controls import address

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
LENGTHS = (5, 32, 64, 128, 256, 512)


def choose_width() -> int:
    said = "Dimensions of a position: a sine and a cosine for each of half as many frequencies."
    return address.select_slider("Width d_model", WIDTHS, 64, key="positions_d_model", help=said)


def choose_length() -> int:
    return address.select_slider("Length in positions", LENGTHS, 128, key="positions_length")


def choose_position(n: int) -> int:
    """One of the positions 0 ... n - 1."""
    return address.slider("Position t", 0, n - 1, min(10, n - 1), key="positions_t")
