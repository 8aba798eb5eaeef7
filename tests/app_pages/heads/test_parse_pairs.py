import pytest

from app_pages.controls.address import LONGEST
from app_pages.heads.parse_pairs import MOST_PAIRS, MOST_SIGNS, digit_pairs_from_file, pairs_from_file

EXPECTED = [("A good film.", "A bad film."), ("the best", "the worst")]


def read(content: str, name: str = "a.csv") -> list[tuple[str, str]]:
    return [(pair.first, pair.second) for pair in pairs_from_file(name, content.encode()).pairs]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", ["", "first{}second\n", "Text{}Other\n"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_two_columns_are_pairs_with_or_without_a_header(separator, header, line_break):
    lines = header.format(separator) + "".join(f"{one}{separator}{other}\n" for one, other in EXPECTED)
    assert read(lines.replace("\n", line_break)) == EXPECTED


def test_texts_in_quotation_marks_hold_separators_and_marks():
    assert read('"A good, ""warm"" film",A bad film\n') == [('A good, "warm" film', "A bad film")]


def test_a_space_may_stand_before_a_quotation_mark():
    assert read('first, second\nA film, "A good, warm film"\n') == [("A film", "A good, warm film")]


def test_with_tabs_commas_are_part_of_a_text():
    assert read("A good, warm film\tA bad, cold film\n") == [("A good, warm film", "A bad, cold film")]


def test_lines_are_counted_from_1_and_empty_ones_are_left_out():
    listed = pairs_from_file("a.csv", b"first,second\n\na,b\n\nc,d\n")
    assert [pair.line for pair in listed.pairs] == [3, 5]
    assert listed.name == "“a.csv”"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "“a.csv” is empty."),
        (" \n \n", "“a.csv” is empty."),
        ("first,second\n", "“a.csv” holds a header and no pair."),
        ("a film\n", "Line 1 of “a.csv” has one text; the two texts of a pair stand between"),
        ("a,b\nc\n", "Line 2 of “a.csv” has one text"),
        ("a,b\nc,d,e\n", "Line 2 of “a.csv” has 3 cells, not two: put a text that contains “,” in"),
        ("a\tb\nc\td\te\n", "Line 2 of “a.csv” has 3 cells, not two: put a text that contains a tab in"),
        ("a,b\nc, \n", "Line 2 of “a.csv” has an empty text."),
        (
            f"a,b\nc,{'d' * (LONGEST + 1)}\n",
            "Line 2 of “a.csv” has a text of 3,501 characters; at most 3,500",
        ),
        ('a,b\n"c,d\n', "“a.csv” cannot be read as a table: a quotation mark is opened and never closed."),
        ("x" * (MOST_SIGNS + 1), "“a.csv” has 2,000,001 characters; at most 2,000,000 can be read."),
    ],
)
def test_what_is_no_table_of_pairs_is_refused_in_one_sentence(content, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - what it says is looked at
        read(content)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_of_many_pairs_the_first_are_read():
    listed = pairs_from_file("a.tsv", "".join(f"a {n}\tb {n}\n" for n in range(MOST_PAIRS + 5)).encode())
    assert len(listed.pairs) == MOST_PAIRS
    assert listed.notes == (f"There are {MOST_PAIRS + 5} pairs, of which the first {MOST_PAIRS} are read.",)


def read_digits(content: str) -> list[tuple[int, int, int]]:
    return [tuple(pair) for pair in digit_pairs_from_file("d.csv", content.encode(), 10_000).pairs]


@pytest.mark.parametrize("separator", [",", ";", "\t", ", "])
@pytest.mark.parametrize("header", ["", "first{}second\n", "digit{}taken from\n"])
def test_pairs_of_digits_are_two_columns_of_their_numbers(separator, header):
    content = header.format(separator) + f"3{separator}18\n\n0{separator}9999\n"
    first_line = 2 if header else 1
    assert read_digits(content) == [(3, 18, first_line), (0, 9999, first_line + 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (
                f"1,2\n3,{cell}\n",
                f"Line 2 of “d.csv” has {shown} in place of the number of a test digit, from 0 to 9,999.",
            )
            for cell in ("10000", "-4", "4.5", "", "four", "３")
            for shown in [f"“{cell}”" if cell else "an empty cell"]
        ),
        ("1,2,3\n", "Line 1 of “d.csv” has 3 cells, not the numbers of two test digits."),
        ("12\n", "Line 1 of “d.csv” has one cell, not the numbers of two test digits."),
        ("first,second\n", "“d.csv” holds a header and no pair."),
    ],
)
def test_what_is_no_table_of_digits_is_refused_in_one_sentence(content, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - what it says is looked at
        read_digits(content)
    assert str(error.value) == message
