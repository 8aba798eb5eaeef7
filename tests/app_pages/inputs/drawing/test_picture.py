import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from app_pages.inputs.drawing.code import BLANK
from app_pages.inputs.drawing.picture import LONGER_SIDE, centred, from_file, in_colour, ink


def file(picture: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    return buffer.getvalue()


def page(paper: int = 255, pen: int = 0) -> np.ndarray:
    """An upright bar, 100 pixels high and 20 wide, off the middle of a page of 200 × 300 pixels."""
    grey = np.full((200, 300), paper, np.uint8)
    grey[10:110, 20:40] = pen
    return grey


BAR = BLANK.copy()  # 20 × 4 pixels, as near to the middle as whole pixels come
BAR[4:24, 12:16] = 255


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP"])
@pytest.mark.parametrize(("paper", "pen"), [(255, 0), (0, 255), (180, 90)])
def test_ink_of_any_colour_becomes_white_centred_and_20_pixels_high(kind, paper, pen):
    result = from_file(file(Image.fromarray(page(paper, pen)), kind))
    assert np.abs(result.astype(int) - BAR).max() < 60  # lossy kinds smear the edges


def test_a_clean_picture_is_exact():
    np.testing.assert_array_equal(from_file(file(Image.fromarray(page()))), BAR)


@pytest.mark.parametrize("pen", [(0, 0, 0, 255), (255, 255, 255, 255), (200, 30, 30, 255)])
def test_ink_on_transparent_paper(pen):
    picture = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
    picture.paste(pen, (20, 10, 40, 110))
    np.testing.assert_array_equal(from_file(file(picture)), BAR)


def test_a_picture_of_16_bits():
    np.testing.assert_array_equal(from_file(file(Image.fromarray(page().astype(np.uint16) * 257))), BAR)


def test_faint_spots_on_the_paper_are_not_ink():
    grey = page()
    grey[190, 290] = 215
    np.testing.assert_array_equal(from_file(file(Image.fromarray(grey))), BAR)


def test_a_picture_lying_on_its_side_is_turned():
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    buffer = io.BytesIO()
    Image.fromarray(np.rot90(page()).copy()).save(buffer, "PNG", exif=exif)
    np.testing.assert_array_equal(from_file(buffer.getvalue()), BAR)


def test_the_centre_of_mass_goes_to_the_middle():
    image = np.zeros((20, 20), np.uint8)
    image[:, :2] = 255  # an L: the heavy side stands left of the middle of its box
    image[-2:] = 255
    rows, columns = np.nonzero(centred(image))
    assert abs(rows.mean() - 13.5) <= 0.5
    assert abs(columns.mean() - 13.5) <= 0.5
    assert (rows.min(), columns.min()) != (4, 4)


def test_a_blank_image_stays_blank():
    np.testing.assert_array_equal(centred(BLANK), BLANK)


def test_a_picture_without_ink_is_refused():
    with pytest.raises(ValueError, match="no digit to see"):
        ink(np.full((28, 28), 200, np.float32))


def test_a_picture_of_40_million_pixels_is_refused_without_being_decoded():
    # Its pixels are missing: whoever looked for them would find the file damaged, not too large.
    with pytest.raises(ValueError, match=r"too large: 8000 × 5000 pixels, at most 16 million"):
        from_file(header(8000, 5000))


def test_a_line_of_millions_of_pixels_is_refused_without_being_decoded():
    with pytest.raises(ValueError, match=r"too long: 1 × 15000000 pixels, at most 20,000 a side"):
        from_file(header(1, 15_000_000))


def test_a_picture_beyond_what_pillow_warns_of_is_refused():
    with pytest.raises(ValueError, match="too large"):
        from_file(header(20_000, 20_000))


@pytest.mark.parametrize("content", [b"", b"not a picture", b"GIF89a", b"<svg/>", b"\x89PNG\r\n\x1a\n"])
@pytest.mark.parametrize("read", [from_file, in_colour])
def test_what_is_no_picture_is_refused(read, content):
    with pytest.raises(ValueError, match="not a picture"):
        read(content)


def test_a_picture_that_was_cut_is_refused():
    with pytest.raises(ValueError, match="damaged"):
        from_file(file(Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)))[:-200])


def header(width: int, height: int) -> bytes:
    """A PNG that promises so many grey pixels and holds none."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def outline(size: int, width: int) -> np.ndarray:
    """A circle drawn with a line of so many pixels, black on white."""
    picture = Image.new("L", (size, size), 255)
    margin = size // 5
    ImageDraw.Draw(picture).ellipse((margin, margin, size - margin, size - margin), outline=0, width=width)
    return np.asarray(picture)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("size", "width"), [(3000, 3), (1000, 3), (1000, 40)])
def test_a_thin_line_is_as_strong_as_a_thick_one(size, width):
    image = from_file(file(Image.fromarray(outline(size, width))))
    assert image.max() == 255
    assert (image > 127).sum() >= 40  # most of a circle of 20 pixels


def test_two_dots_far_apart_are_two_dots():
    page = np.full((2000, 2000), 255, np.uint8)
    page[10, 10] = page[-10, -10] = 0
    assert (from_file(file(Image.fromarray(page))) > 0).sum() == 2


def test_a_picture_whose_exif_is_damaged_is_refused():
    exif, buffer = Image.Exif(), io.BytesIO()
    exif[0x0112], exif[0x010E] = 6, "hello"
    Image.fromarray(np.full((40, 40), 200, np.uint8)).save(buffer, "JPEG", exif=exif)
    content = bytearray(buffer.getvalue())
    # The type of the first entry: what is put into an upright picture's EXIF is no number then.
    content[41] = 0
    with pytest.raises(ValueError, match="damaged: required argument is not an integer"):
        from_file(bytes(content))


# In colour


def test_a_picture_in_colour_stays_what_it_is():
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    np.testing.assert_array_equal(in_colour(file(Image.fromarray(picture))), picture)


def test_grey_has_all_colours_alike_and_what_is_transparent_is_white():
    grey = np.arange(100, dtype=np.uint8).reshape(10, 10)
    assert (in_colour(file(Image.fromarray(grey))) == grey[..., None]).all()
    assert (in_colour(file(Image.new("RGBA", (4, 4)))) == 255).all()


def test_a_large_picture_is_made_smaller():
    seen = in_colour(file(Image.new("RGB", (3000, 500))))
    assert seen.shape[1] == LONGER_SIDE
    assert abs(seen.shape[0] - 500 * LONGER_SIDE / 3000) <= 1
