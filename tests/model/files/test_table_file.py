"""Tables as pandas and Excel write them."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

from model.files.table_file import (
    csv_error_message,
    decode,
    find_separator,
    open_text,
    read_table,
    table_rows,
)

FRAME = pd.DataFrame(
    {
        "text": [
            "A gripping, unforgettable film.",
            "A dull film; nothing works.",
            'He said "wow".\nTwice.',
            "Ünï\tcödé 🎬",
        ],
        "label": [1, 0, 1, 0],
    }
)


def rows(path: Path, *columns: str) -> list[dict[str, str]]:
    return [row for _, row in table_rows(path, *(columns or ("text", "label")))]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_pandas_writes_is_read(tmp_path, separator, encoding, line_end):
    path = tmp_path / "a.csv"
    FRAME.to_csv(path, index=False, sep=separator, encoding=encoding, lineterminator=line_end)
    expected = [{"text": text, "label": str(label)} for text, label in FRAME.itertuples(index=False)]
    assert rows(path) == expected


@pytest.mark.parametrize(
    "content",
    [
        "Text,Label\nA film,1\n",
        "TEXT;LABEL\nA film;1\n",
        '"text","label"\n"A film","1"\n',
        "text, label\nA film, 1\n",
        'label, text\n1, "A film"\n',
        " text ,label\nA film,1\n",
        "\n\nlabel,text\n\n1,A film\n\n",
        "id\ttext\tlabel\n7\tA film\t1",
    ],
)
def test_names_of_columns_may_have_capitals_spaces_and_any_order(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    (row,) = rows(path)
    assert (row["text"], row["label"]) == ("A film", "1")


def test_a_space_before_a_text_stays_where_the_header_has_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,text\n1, film\n")
    assert rows(path) == [{"label": "1", "text": " film"}]


def test_lines_are_counted_from_1(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('\ntext,label\n"a\nb",1\n\nc,0\n')
    assert [line for line, _ in table_rows(path, "text")] == [4, 6]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "A naïve café – great,1\n".encode("cp1252"),
            "cannot be read: it is not written in UTF-8: save it so",
        ),
        ("text,label\nдобро,1\n".encode("cp1251"), "it is not written in UTF-8"),
        ("text,label\na,1\n".encode("utf-16-le"), "it is not written in UTF-8"),
        (b"\xff\xfea", "it is not written in UTF-8"),
        (b"", "lacks the column text: name it in the first line, which is empty"),
        (
            b"sentence,label\na,1",
            "lacks the column text: name it in the first line, which is “sentence,label”",
        ),
        (b"text;rating\na;1", "lacks the column label"),
        (
            b"text,label\na,b,1",
            "line 2 has more or fewer cells than its first; a text that contains “,” stands in",
        ),
        (
            b"text\tlabel\na",
            "line 2 has more or fewer cells than its first; a text that contains a tab stands in",
        ),
        (b'text,label\n"a,1\n', "a quotation mark is opened and never closed"),
    ],
)
def test_what_is_no_such_table_is_refused_in_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^a\.csv cannot be read") as refusal:
        rows(path)
    assert sentence in str(refusal.value)
    assert "codec" not in str(refusal.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_texts_are_read_in_these_encodings(tmp_path, encoding):
    assert decode("größer 🎬".encode(encoding)) == "größer 🎬"
    path = tmp_path / "a.txt"
    path.write_bytes("größer\r\n🎬".encode(encoding))
    with open_text(path) as lines:
        assert list(lines) == ["größer\r\n", "🎬"]


@pytest.mark.parametrize(
    ("header", "separator"),
    [("text,label", ","), ("Label;Text", ";"), ("a;b\ttext", "\t"), ("text", ","), ("sentence,label", None)],
)
def test_the_separator_is_the_one_that_makes_the_names(header, separator):
    assert find_separator(header, "text") == separator


def test_long_cells_are_read_and_the_limit_of_the_process_stays(tmp_path):
    before = csv.field_size_limit()
    table = read_table(io.StringIO("text\n" + "a" * (before + 1)), "text")
    ((_, (cell,)),) = table.rows
    assert len(cell) == before + 1
    assert csv.field_size_limit() == before
    path = tmp_path / "a.csv"
    FRAME.to_csv(path, index=False)
    first, second = (table_rows(path, "text") for _ in range(2))
    next(first), next(second)
    first.close()
    next(second)  # and is not read to its end
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("unexpected end of data", "opened and never closed"),
        ("',' expected after '\"'", "in line 3 a quotation mark"),
        ("field larger than field limit", "line 3: field larger"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(message, sentence):
    assert sentence in csv_error_message(csv.Error(message), 3)
