import pytest

from app_pages.inputs.uploaded_text import decode


def test_the_text_comes_with_the_name_of_its_file():
    assert decode("a.csv", "größer 🎬".encode("utf-16")) == ("größer 🎬", "“a.csv”")


def test_what_is_no_text_is_refused_in_one_sentence():
    with pytest.raises(
        ValueError, match=r"^“pictures\.zip” cannot be read: it is not written in UTF-8: save it so, .*\.$"
    ):
        decode("pictures.zip", b"\xe4\xf6")


def test_a_long_name_is_cut():
    assert len(decode(f"{'a' * 500}.csv", b"text")[1]) == 62
