"""The page about the architecture shows the folders as they are."""

import re

import pytest

from tests.architecture import PICTURE, Graph, picture, reduced, rows_of
from tests.test_boundaries import PYTHON, ROOT

DIAMOND: Graph = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b", "c"}}


@pytest.mark.slow
def test_the_picture_is_drawn_from_the_imports():
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run `python -m tests.architecture`"


def test_an_import_is_not_drawn_where_others_lead_the_same_way():
    assert reduced(DIAMOND) == {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}}


def test_each_box_stands_below_all_that_it_imports():
    rows, links = rows_of(DIAMOND)
    assert rows == [["a"], ["b", "c"], ["a>1>d", "d"]] or rows == [["a"], ["b", "c", "a>1>d"], ["d"]]
    assert ("a", "a>1>d") in links
    assert ("a>1>d", "d") in links


def test_the_page_names_each_folder_once():
    (tree,) = re.findall(r"```text\n(.*?)```", (ROOT / "docs/architecture.md").read_text(), re.DOTALL)
    named, top = [], ""
    for line in tree.splitlines():
        folder = line.split()[0]
        if line.startswith(" "):
            folder = top + folder
        else:
            top = folder
        named.append(folder)
    assert len(named) == len(set(named))
    assert all((ROOT / folder).is_dir() for folder in named)
    pages = {path.parent for path in PYTHON if path.name == "page.py"}
    rooms = {
        path.parent for path in PYTHON if path.parts[0] in ("model", "app_pages") and len(path.parts) == 3
    }
    assert {f"{folder}/" for folder in rooms - pages} <= set(named)


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda page: page.name)
def test_files_and_modules_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    tops = "model|viz|app_pages|tests|benchmarks|docs|loupe"
    files = re.findall(rf"(?<![\w/])(?:{tops})/[\w/.]+", text)
    assert not [name for name in files if not (ROOT / name.rstrip(".")).exists()]
    modules = {name.replace(".", "/") for name in re.findall(rf"-m ((?:{tops})\.[\w.]+)", text)}
    paths = {name.removeprefix("loupe/") for name in modules}
    assert not [
        name for name in sorted(paths) if not ((ROOT / name).is_dir() or (ROOT / f"{name}.py").is_file())
    ]
