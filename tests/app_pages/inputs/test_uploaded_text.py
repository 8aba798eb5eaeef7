import csv

import pytest

from app_pages.inputs.uploaded_text import csv_error_message, decode


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_utf_8_and_what_excel_writes_are_read(encoding: str) -> None:
    assert decode("a.csv", "größer 🎬".encode(encoding)) == ("größer 🎬", "“a.csv”")


@pytest.mark.parametrize("content", [b"\xe4\xf6", b"a\x00b"])
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"“pictures\.zip” is not UTF-8 text"):
        decode("pictures.zip", content)


def test_a_long_name_is_cut() -> None:
    assert len(decode(f"{'a' * 500}.csv", b"text")[1]) == 62


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("unexpected end of data", "opened and never closed"),
        ("',' expected after '\"'", "in line 3 a quotation mark"),
        ("field larger than field limit", "line 3: field larger"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(message: str, said: str) -> None:
    assert said in csv_error_message(csv.Error(message), 3)
