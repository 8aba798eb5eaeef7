import numpy as np
import pytest

from tests.viz.export.test_drawing import bars
from viz.attention.token_heatmaps import weight_heatmap
from viz.export import safe_text
from viz.export.drawing import svg
from viz.export.safe_text import (
    file_name,
    fold_legends,
    keep_spaces,
    missing_letters,
    missing_letters_sentence,
    name_rare_fonts,
    replace_forbidden,
    replace_missing_letters,
    wrap_titles,
)
from viz.export.save import save

KOREAN = weight_heatmap(np.eye(2, dtype=np.float32), ["한국", "film"])
UNASSIGNED = "\U0010fffe"  # no font has it, and nobody may use it


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
    assert replace_forbidden({"a": ["tab\t", "line\n", "\x01", "\ud800", "é😀"]}) == {
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


@pytest.fixture
def without_korean(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a Korean font."""
    monkeypatch.setattr(safe_text, "_known", {"한": False, "국": False})


@pytest.fixture
def without_devanagari(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_text, "_known", dict.fromkeys("नमस्ते", False))


def test_latin_greek_and_cyrillic_letters_have_a_font():
    assert missing_letters(["naïve ü € Ω λ Ж ▲ ₀ …", "a\u0301", "␣"]) == []


def test_a_letter_that_no_font_has_is_found_by_how_it_is_drawn(monkeypatch):
    monkeypatch.setattr(safe_text, "_known", {})
    assert safe_text._have_fonts(["a", "\U000ffffd", "Ж"]) == {
        "a": True,
        "\U000ffffd": False,
        "Ж": True,
    }


def test_what_is_never_drawn_is_not_missing():
    assert missing_letters(["\u200d\u200b\u2028\ud800\x00", UNASSIGNED]) == []


@pytest.mark.usefixtures("without_korean")
def test_each_letter_is_named_once_in_one_sentence():
    figure = bars(["국", "한국", "film"])
    for kind in ("png", "pdf"):
        assert (
            missing_letters_sentence(figure, kind)
            == "No font here has 국 한: the file shows � in their place."
        )
    assert missing_letters_sentence(figure, "svg") == (
        "No font here has 국 한: the file keeps them, but they show only where a font has them."
    )
    assert [missing_letters_sentence(figure, kind) for kind in ("csv", "parquet")] == ["", ""]
    assert missing_letters_sentence(bars(["film"]), "png") == ""


def test_of_many_letters_the_first_are_named(monkeypatch):
    letters = [chr(0x4E00 + index) for index in range(30)]
    monkeypatch.setattr(safe_text, "_known", dict.fromkeys(letters, False))
    assert missing_letters_sentence(bars(letters), "png") == (
        f"No font here has {' '.join(letters[:12])} and 18 more: the file shows � in their place."
    )


@pytest.mark.usefixtures("without_korean")
def test_the_picture_says_that_letters_are_unknown_and_the_svg_keeps_them():
    drawn = svg(KOREAN)
    assert drawn.count(">한국</text>") == 2
    replaced = replace_missing_letters(drawn)
    assert replaced.count(">��</text>") == 2
    assert replaced.count(">film</text>") == 2


@pytest.mark.usefixtures("without_devanagari")
def test_accents_go_with_their_letter():
    assert replace_missing_letters("<text>नमस्ते न</text>") == "<text>���� �</text>"


@pytest.mark.usefixtures("without_korean")
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_whoever_saves_a_figure_is_warned(kind, tmp_path):
    with pytest.warns(UserWarning, match="No font here has 한 국: "):
        save(KOREAN, tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").stat().st_size


@pytest.mark.usefixtures("without_korean")
def test_a_table_needs_no_font(tmp_path):
    save(KOREAN, tmp_path / "figure.csv")
    assert "한국" in (tmp_path / "figure.csv").read_text("utf-8")
