import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from app_pages.inputs import pictures
from app_pages.inputs.drawing.code import from_code
from app_pages.inputs.drawing.picture import from_file
from app_pages.inputs.pictures import LONGER_SIDE, from_files
from tests.app_pages.inputs.drawing.test_picture import header
from tests.model import tiny

RNG = np.random.default_rng(0)


def file(array: np.ndarray, kind: str = "PNG") -> bytes:
    written = io.BytesIO()
    Image.fromarray(array).save(written, kind)
    return written.getvalue()


def uploads(*files: tuple[str, bytes]) -> list[tuple[str, Callable[[], bytes]]]:
    return [(name, lambda content=content: content) for name, content in files]


STROKE = np.zeros((40, 40), np.uint8)
STROKE[5:35, 18:22] = 255
COLOURS = RNG.integers(0, 256, (30, 20, 3), dtype=np.uint8)


def test_a_picture_is_kept_as_digit_and_in_colour():
    listed = from_files(uploads(("one.png", file(STROKE)), ("photo.jpg", file(COLOURS, "JPEG"))))
    assert [item.name for item in listed.items] == ["one.png", "photo.jpg"]
    assert not listed.notes
    digit = listed.items[0].as_input(tiny.DIGIT, reads_pairs=False)
    # as where it is drawn: the address knows 16 grey levels
    assert np.abs(digit.array.astype(int) - from_file(file(STROKE))).max() <= 8
    np.testing.assert_array_equal(digit.array, from_code(listed.items[0].drawing))
    assert listed.items[1].colours.shape == (30, 20, 3)


def test_a_large_picture_is_kept_smaller():
    (item,) = from_files(uploads(("wide.png", file(np.full((300, 1500), 9, np.uint8))))).items
    assert item.colours.shape[1] == LONGER_SIDE
    assert item.drawing == ""
    assert item.as_input(tiny.DIGIT, reads_pairs=False) is None


def test_a_table_among_them_says_what_they_show():
    table = b"file,label\none.png, 1\nother.png,2\n"
    listed = from_files(uploads(("labels.csv", table), ("one.png", file(STROKE)), ("two.png", file(STROKE))))
    assert [item.label for item in listed.items] == ["1", ""]
    assert listed.notes == ("1 of the labels name files that are not there.",)


def test_what_is_no_picture_is_named_and_left_out():
    listed = from_files(
        uploads(("no.png", b"GIF89a"), ("huge.png", header(8000, 5000)), ("one.png", file(STROKE)))
    )
    assert len(listed.items) == 1
    (note,) = listed.notes
    assert note.startswith("2 files left out")
    assert "too large: 8000 × 5000 pixels" in note


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "no picture among these files"),
        ([("a.png", b"")], "is not a picture"),
        ([("a.csv", b"name,label\nx,1")], "lacks the column file"),
        ([("a.csv", b"\xff\xfe\x00")], "cannot be read: it is not written in UTF-8"),
        ([("a.csv", b"")], "cannot be read as a table"),
    ],
)
def test_nothing_to_read_is_one_sentence(files, message):
    with pytest.raises(ValueError, match=message):
        from_files(uploads(*files))


def test_so_many_are_read(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PICTURES", 2)
    listed = from_files(uploads(*((f"{index}.png", file(STROKE)) for index in range(3))))
    assert len(listed.items) == 2
    assert listed.notes == ("There are 3 pictures, of which the first 2 are read.",)
