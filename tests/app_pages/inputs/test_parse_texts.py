from collections.abc import Callable

import pytest

from app_pages.controls.address import LONGEST
from app_pages.inputs.input_list import InputList, Item
from app_pages.inputs.parse_texts import MOST_SIGNS, MOST_TEXTS, decode, from_file, from_text
from model.inputs import Text


def texts(listed: InputList) -> list[str]:
    return [item.text.text for item in listed.items]


def labels(listed: InputList) -> list[str]:
    return [item.label for item in listed.items]


def refused(read: Callable[[], InputList]) -> str:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - what it says is looked at by the tests
        read()
    message = str(error.value)
    assert message.count("\n") == 0
    assert len(message) < 300
    return message


def test_each_line_is_a_text_as_it_stands():
    listed = from_text('A good, "fine" film\r\n<script>alert(1)</script>\nשלום 🎬\n')
    assert texts(listed) == ['A good, "fine" film', "<script>alert(1)</script>", "שלום 🎬"]
    assert labels(listed) == ["", "", ""]
    assert not listed.notes


def test_behind_a_tab_stands_the_label():
    listed = from_text("a film\tpositive\nanother one\nwith\ta tab\t0")
    assert texts(listed) == ["a film", "another one", "with\ta tab"]
    assert labels(listed) == ["positive", "", "0"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_has_a_line_of_names_in_any_order(separator):
    rows = [["Label", "id", "text", "second"], ["1", "7", '"a, b; c\nd"', ""], ["0", "8", "e", "f"]]
    listed = from_text("\n".join(separator.join(row) for row in rows))
    assert listed.items == (
        Item(text=Text("a, b; c\nd"), label="1"),
        Item(text=Text("e", "f"), label="0"),
    )


def test_a_table_of_texts_alone():
    listed = from_file("a.csv", b"\xef\xbb\xbftext\na film\nNA\n007\n")
    assert texts(listed) == ["a film", "NA", "007"]


def test_what_was_left_out_is_counted():
    listed = from_text("text,label\na,1\n ,0\nb,c,d,1\nNo label\n")
    assert texts(listed) == ["a", "No label"]
    assert labels(listed) == ["1", ""]
    wide, empty = listed.notes
    assert wide.startswith("1 line of the table left out")
    assert empty == "1 empty line left out."
    assert from_text("a\n\n \nb\n").notes == ("2 empty lines left out.",)


def test_so_many_are_read_and_the_rest_is_counted():
    listed = from_text("\n".join(f"text {index}" for index in range(10_000)))
    assert len(listed.items) == MOST_TEXTS
    assert listed.notes == (f"There are 10,000 texts, of which the first {MOST_TEXTS} are read.",)


def test_a_long_text_is_cut_to_what_the_box_takes():
    listed = from_text("x" * 100_000)
    assert len(texts(listed)[0]) == LONGEST
    (note,) = listed.notes
    assert "of 100,000" in note


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.txt", b" \n ", "is empty"),
        (
            "a.csv",
            b"sentence,label\na,1",
            "lacks the column text: name it in the first line, which is “sentence,label”.",
        ),
        ("a.csv", b"text,label\n ,1", "no text in it"),
        ("a.csv", b'text,label\n"a,1\nb,0', "a quotation mark is opened and never closed"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0", "is not written in UTF-8"),
        ("a.txt", bytes(100), "is not written in UTF-8"),
        ("a.txt", "Käse".encode("latin-1"), "is not written in UTF-8"),
        ("a.txt", b"\xff\xfea", "is not written in UTF-8"),
        ("a.csv", b'text,label\n"a" b,1', "in line 2 a quotation mark inside a text is not doubled"),
        ("a.txt", b"x" * (MOST_SIGNS + 1), "at most 5,000,000 can be read"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(name, content, message):
    assert message in refused(lambda: from_file(name, content))


@pytest.mark.parametrize(
    "content",
    [
        "Text;Label\nA film, and its end;1.0\n".encode("utf-16"),
        b"Text\tLabel\nA film, and its end\t1.0\n",
        b'text, label\n"A film, and its end", 1.0\n',
        b'label, text\r\n1.0, "A film, and its end"\r\n',
    ],
)
def test_tables_of_spreadsheets_are_read(content):
    listed = from_file("a.csv", content)
    assert (texts(listed), labels(listed)) == (["A film, and its end"], ["1.0"])


def test_a_long_cell_is_a_long_text():
    listed = from_text("text,label\n" + "a" * 200_000)
    assert len(texts(listed)[0]) == LONGEST


def test_what_a_spreadsheet_writes_as_unicode_is_read():
    assert labels(from_file("a.txt", "text\tlabel\nKäse\t1\n".encode("utf-16"))) == ["1"]


@pytest.mark.parametrize("content", ["text,text\na,b", "text,\na,b", '"', "text,a\n\0,1"])
def test_odd_tables_are_read(content):
    assert len(from_text(content).items) == 1


def test_the_text_comes_with_the_name_of_its_file():
    assert decode("a.csv", "größer 🎬".encode("utf-16")) == ("größer 🎬", "“a.csv”")


def test_what_is_no_text_is_refused_in_one_sentence():
    with pytest.raises(
        ValueError, match=r"^“pictures\.zip” cannot be read: it is not written in UTF-8: save it so, .*\.$"
    ):
        decode("pictures.zip", b"\xe4\xf6")


def test_a_long_name_is_cut():
    assert len(decode(f"{'a' * 500}.csv", b"text")[1]) == 62
