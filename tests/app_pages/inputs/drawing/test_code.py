import base64
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app_pages.inputs.drawing.code import BLANK, N_BYTES, from_code, to_code

levels = arrays(np.uint8, (28, 28), elements=st.integers(0, 15))


def code_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(content)).decode().rstrip("=")


@given(levels)
def test_a_drawing_in_16_levels_comes_back(levels):
    np.testing.assert_array_equal(from_code(to_code(levels * 17)), levels * 17)


def test_other_greys_are_rounded():
    image = BLANK.copy()
    image[0, :3] = 8, 9, 250
    assert from_code(to_code(image))[0, :3].tolist() == [0, 17, 255]


def test_a_code_needs_no_escaping_in_an_address_and_is_short():
    digit = BLANK.copy()
    digit[4:24, 12:15] = 255, 170, 85
    code = to_code(digit)
    assert code.replace("-", "").replace("_", "").isalnum()
    assert len(code) < 100


def test_nothing_drawn_is_no_code():
    assert to_code(BLANK) == ""
    np.testing.assert_array_equal(from_code(""), BLANK)


def test_a_code_gives_an_image_that_can_be_told_apart():
    image = BLANK.copy()
    image[0, 1] = 255  # the second pixel, in the low half of the first byte
    np.testing.assert_array_equal(from_code(code_of(b"\x0f" + bytes(N_BYTES - 1))), image)


@pytest.mark.parametrize(
    "code",
    [
        "nonsense",
        "<script>",
        "ä",
        "=",
        "A",
        to_code(BLANK + 255)[:-3],
        code_of(b"short"),
        code_of(bytes(N_BYTES + 1)),
    ],
)
def test_a_damaged_code_is_refused_in_one_sentence(code):
    with pytest.raises(ValueError, match=r"^The drawing in this address is damaged, [^.]*\.$"):
        from_code(code)


def test_a_code_that_unpacks_to_gigabytes_is_not_unpacked():
    bomb = zlib.compressobj(9)
    packed = b"".join(bomb.compress(bytes(1_000_000)) for _ in range(100)) + bomb.flush()
    with pytest.raises(ValueError, match="damaged"):
        from_code(base64.urlsafe_b64encode(packed).decode().rstrip("="))
