import pytest

from viz.export.safe_text import clean, file_name, fold_legends, keep_spaces, name_rare_fonts, wrap_titles


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("attention", "L2-H1", "imdb-pre-ln"), "attention-L2-H1-imdb-pre-ln.svg"),
        (("masks", "", "a/../b\\c"), "masks-a-b-c.svg"),
        (("Ünïcode & <b>", "x\x00"), "Unicode-b-x.svg"),
        (("שלום",), "figure.svg"),
        (("a" * 300,), f"{'a' * 100}.svg"),
        ((".hidden", "CON|aux?"), "hidden-CON-aux.svg"),
    ],
)
def test_names_of_files_hold_letters_digits_and_hyphens(parts, name):
    assert file_name(*parts, suffix="svg") == name


def test_clean_leaves_what_can_be_written():
    assert clean({"a": ["tab\t", "line\n", "\x01", "\ud800", "é😀"]}) == {
        "a": ["tab\t", "line\n", "�", "�", "é😀"]
    }


def test_titles_are_broken_between_words_and_data_is_left_alone():
    before = {
        "title": {"text": "one two three", "fontSize": 13},
        "encoding": {"x": {"axis": {"title": "four five"}, "tooltip": [{"title": "six seven eight"}]}},
        "datasets": {"frame": [{"name": "a long name here"}]},
    }
    after = wrap_titles(before, 8)
    assert after["title"] == {"text": ["one two", "three"], "fontSize": 13}
    assert after["encoding"]["x"]["axis"]["title"] == ["four", "five"]
    assert after["encoding"]["x"]["tooltip"] == before["encoding"]["x"]["tooltip"]
    assert after["datasets"] == before["datasets"]


def test_legends_take_rows_where_they_are_too_long():
    channel = {"legend": {"title": None}, "scale": {"domain": ["a" * 20, "b" * 20, "c" * 20]}}
    assert fold_legends(channel, 300, 6)["legend"]["columns"] == 1
    assert fold_legends(channel, 400, 6)["legend"]["columns"] == 2
    assert "columns" not in fold_legends(channel, 900, 6)["legend"]


def test_letters_that_few_fonts_have_name_one_that_has_them():
    family = 'font-family="Liberation Sans, Arial, Helvetica, sans-serif"'
    plain, raised = f"<text {family}>abc</text>", f"<text {family}>10⁻⁵</text>"
    assert name_rare_fonts(plain) == plain
    assert "DejaVu Sans, Liberation" in name_rare_fonts(plain + raised)
    assert name_rare_fonts(plain + raised).startswith(plain)


def test_several_spaces_between_words_stay_apart_and_those_of_markup_stay_as_they_are():
    drawn = keep_spaces('<text  x="1   2">1   weight ▲ 0.1</text>  <g/>')
    assert drawn.startswith('<text  x="1   2">1\u00a0\u00a0\u00a0weight ▲ 0.1</text>')
