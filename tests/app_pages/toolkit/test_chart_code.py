"""The files that are fetched ahead are those of Streamlit that draw charts."""

from pathlib import Path

from app_pages.toolkit.chart_code import PARTS, chart_files


def test_each_part_is_one_file_of_streamlit() -> None:
    files = chart_files()
    assert [name.partition(".")[0] for name in files] == list(PARTS)
    assert all(name.endswith(".js") for name in files)


def test_what_has_another_name_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "embed.0.js").touch()
    (tmp_path / "embedding.0.js").touch()
    assert chart_files(tmp_path) == ["embed.0.js"]
