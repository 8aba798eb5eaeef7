from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from model.inputs import picture_file
from model.inputs.picture_file import read_picture

GREY = np.arange(48, dtype=np.uint8).reshape(6, 8)
COLOUR = np.arange(144, dtype=np.uint8).reshape(6, 8, 3)


@pytest.mark.parametrize("pixels", [GREY, COLOUR], ids=["grey", "colour"])
def test_pixels_are_read_as_they_are(pixels: np.ndarray, tmp_path: Path) -> None:
    Image.fromarray(pixels).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), pixels)


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    Image.new("RGBA", (2, 1), (9, 9, 9, 0)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), np.full((1, 2, 3), 255))


def test_sixteen_bits_become_eight(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 257, 65535]], np.uint16)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), [[0, 1, 255]])


def test_what_is_no_picture_is_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match=r"^there is no file a\.png$"):
        read_picture(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"^b\.png is not a picture"):
        read_picture(tmp_path / "b.png")
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)).save(tmp_path / "c.png")
    (tmp_path / "d.png").write_bytes((tmp_path / "c.png").read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"^d\.png cannot be read"):
        read_picture(tmp_path / "d.png")
    monkeypatch.setattr(picture_file, "MOST_PIXELS", 1599)
    with pytest.raises(ValueError, match="more than 1,599 pixels"):
        read_picture(tmp_path / "c.png")


def test_a_line_of_millions_of_pixels_is_no_picture(tmp_path: Path) -> None:
    Image.new("1", (1, 30_000)).save(tmp_path / "line.png")
    with pytest.raises(ValueError, match="more than 20,000 pixels a side"):
        read_picture(tmp_path / "line.png")
