import io

import numpy as np
import pytest
from PIL import Image

from app_pages.inputs.drawing.picture import LONGER_SIDE, in_colour


def png(array: np.ndarray, mode: str | None = None) -> bytes:
    file = io.BytesIO()
    Image.fromarray(array, mode).save(file, "PNG")
    return file.getvalue()


def test_a_picture_in_colour_stays_what_it_is():
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    np.testing.assert_array_equal(in_colour(png(picture)), picture)


def test_grey_has_all_colours_alike_and_what_is_transparent_is_white():
    grey = np.arange(100, dtype=np.uint8).reshape(10, 10)
    assert (in_colour(png(grey)) == grey[..., None]).all()
    clear = np.zeros((4, 4, 4), np.uint8)
    assert (in_colour(png(clear)) == 255).all()


def test_a_large_picture_is_made_smaller():
    seen = in_colour(png(np.zeros((500, 3000, 3), np.uint8)))
    assert seen.shape[1] == LONGER_SIDE
    assert abs(seen.shape[0] - 500 * LONGER_SIDE / 3000) <= 1


@pytest.mark.parametrize("content", [b"", b"GIF89a", b"<svg/>", b"\x89PNG\r\n\x1a\n" + b"\0" * 50])
def test_what_is_no_picture_is_refused(content):
    with pytest.raises(ValueError, match="picture"):
        in_colour(content)
