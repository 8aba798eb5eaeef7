import pytest

from tests.viz.builders.test_figure import figure
from viz.export.export_style import ExportStyle
from viz.export.save import save


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.pdf", b"%PDF-"),
        ("a.svg", b"<svg"),
        ("a.PNG", b"\x89PNG"),
        ("a.csv", b"name,size\n"),
        ("a.parquet", b"PAR1"),
    ],
)
def test_a_figure_is_saved_in_the_format_that_its_name_says(tmp_path, name, begins):
    assert save(figure(), tmp_path / name) is None
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_saved_figure_has_the_look_that_was_asked_for(tmp_path):
    path = tmp_path / "a.svg"
    save(figure(), str(path), ExportStyle("dark", width_cm=8.5, font_pt=8))
    drawn = path.read_text()
    assert 'width="8.50cm"' in drawn
    assert "#fafafa" in drawn  # the ink of a dark page


def test_a_name_without_a_known_format_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg, \.pdf, \.csv, \.parquet, got a\.gif"):
        save(figure(), tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())
