"""The library: its names in the clone, and what `pip install .` installs outside of it."""

import ast
import doctest
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from inspect import isfunction, unwrap
from pathlib import Path
from typing import Any

import pytest

import loupe
from model.version import VERSION

ROOT = Path(__file__).parents[1]
FOLDERS = {"model": "loupe/model", "viz": "loupe/viz", "loupe": "loupe"}  # here, and in an installation
OF_THE_APP = {"streamlit", "cachetools"}
# As a notebook asks the value of a cell how to show it: by type, sometimes with what is to be known beside them.
SHOW = """def show(figure):
    bundle = figure._repr_mimebundle_()
    print(*(bundle[0] if isinstance(bundle, tuple) else bundle))

"""
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the wheel in it, built from a copy: building leaves things beside the sources."""
    home = tmp_path_factory.mktemp("library")
    source = home / "source"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source / name)
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", home / "wheels")
    subprocess.run([*PIP, *map(str, build), str(source)], check=True, capture_output=True)
    (wheel,) = (home / "wheels").iterdir()
    assert VERSION in wheel.name
    install = ("install", "--no-deps", "--no-index", "--target", home / "site", wheel)
    subprocess.run([*PIP, *map(str, install)], check=True, capture_output=True)
    return home / "site"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Where a notebook runs, with the checkpoints, and with files of its own that have our folders' names."""
    for name in ("model", "viz", "app_pages"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('this is somebody else')")
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    return tmp_path


def run(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Python in that folder, with the installed library beside what the environment has."""
    environment = {"PYTHONPATH": str(site), "PATH": "", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    environment["PLOTLY_RENDERER"] = "plotly_mimetype"  # which a notebook finds out by itself
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def notebook() -> list[str]:
    """The lines of all code blocks of docs/notebook.md."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/notebook.md").read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_the_notebook_imports_nothing_of_ours_but_names_of_loupe() -> None:
    modules = {
        node.module: {alias.name for alias in node.names}
        for node in ast.walk(ast.parse("\n".join(notebook())))
        if isinstance(node, ast.ImportFrom)
    }
    assert set(modules) == {"loupe"}


@pytest.mark.slow
def test_the_lines_of_the_notebook_run_outside_the_clone(site: Path, elsewhere: Path) -> None:
    lines = notebook()
    figures = ("linked_heads(", "head_overview(", "attention_heatmap(", "token_strip(")
    script = "\n".join(f"show({line})" if line.startswith(figures) else line for line in lines)
    result = run(site, elsewhere, "-c", SHOW + script + "\nimport sys; print('streamlit' in sys.modules)")
    assert not result.stderr
    *bundles, streamlit = result.stdout.splitlines()
    assert len(bundles) == sum(line.startswith(figures) for line in lines) >= 5
    assert all("text/html" in bundle or "vega" in bundle or "plotly" in bundle for bundle in bundles)
    assert streamlit == "False"
    assert (elsewhere / "record.npz").is_file()


@pytest.mark.slow
def test_the_commands_of_the_notebook_run(site: Path, elsewhere: Path) -> None:
    capture = ("checkpoints/imdb-pre-ln", "--text", "a film", "--out", "a.safetensors")
    result = run(site, elsewhere, "-m", "loupe.model.capture", *capture)
    assert (result.returncode, result.stderr) == (0, "")
    assert (elsewhere / "a.safetensors").is_file()
    for name in ("heads.html", "heads.svg"):
        result = run(site, elsewhere, "-m", "loupe.viz.export", "a.safetensors", "--out", name)
        assert (result.returncode, result.stderr) == (0, "")
        assert (elsewhere / name).is_file()


@pytest.mark.slow
def test_the_error_for_a_name_says_that_no_checkpoints_are_installed(site: Path, elsewhere: Path) -> None:
    result = run(
        site, elsewhere, "-m", "loupe.model.capture", "mnist-pre-ln", "--text", "a", "--out", "a.npz"
    )
    assert result.returncode == 2
    (message,) = result.stderr.splitlines()
    expected = "trained encoders are not installed with the library: name the path of a checkpoint's folder"
    assert expected in message
    assert str(site) not in message


@pytest.mark.slow
def test_what_the_modules_read_is_installed_with_them(site: Path) -> None:
    def files(folder: Path) -> set[Path]:
        paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(folder) for path in paths}

    expected = {FOLDERS[folder] / path for folder in FOLDERS for path in files(ROOT / folder)}
    assert {"loupe" / path for path in files(site / "loupe")} == expected


@pytest.mark.slow
def test_a_record_is_read_and_drawn_without_torch(site: Path, elsewhere: Path) -> None:
    lines = (
        "from loupe import from_arrays, head_overview, read_record, save_record",
        "save_record(from_arrays([[[[1.0]]]], ['a']), 'a.npz', {})",
        "print(read_record('a.npz'))",
        "import sys; print('torch' in sys.modules)",
    )
    result = run(site, elsewhere, "-c", "\n".join(lines))
    assert (result.stderr, result.stdout) == ("", "AttentionRecord(1 token 'a', 1 layer × 1 head)\nFalse\n")


def test_the_installed_library_needs_what_the_app_needs_but_for_the_apps_own() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    pinned = dict(line.split("==") for line in (ROOT / "requirements.txt").read_text().splitlines())
    assert dict(requirement.split(">=") for requirement in needed) == {
        name: version for name, version in pinned.items() if name not in OF_THE_APP
    }


# In the clone


def test_the_lines_of_the_notebook_run_in_the_clone(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(elsewhere)
    names: dict[str, Any] = {}
    exec("\n".join(notebook()), names)
    assert names["record"].tokens == ("[CLS]", "film", "##s", "[SEP]")
    assert names["words"].tokens == ("films",)
    assert names["answers"].shape == (7, 2)  # each of the eight tokens but [CLS] is left out once
    assert names["guesses"][4][0].probability > 0.1


@pytest.mark.parametrize("name", loupe.__all__)
def test_a_name_is_what_the_module_has_and_its_description_lists_it(name: str) -> None:
    module, original = vars(loupe)["_SOURCES"][name]
    value = getattr(loupe, name)
    assert value is getattr(import_module(module), original)
    if isfunction(unwrap(value)):
        assert ">>> from loupe import" in (value.__doc__ or "")
    assert f"`{name}`" in loupe.__doc__
    assert name in dir(loupe)


def test_no_module_is_loaded_twice() -> None:
    assert all(hasattr(loupe, name) for name in loupe.__all__)
    assert not [name for name in sys.modules if name.startswith("loupe.")]


def test_other_names_are_missing_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'loupe' has no attribute 'lode'"):
        getattr(loupe, "lode")  # noqa: B009 - type checkers know that it is missing


def test_the_examples_of_the_docstrings_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    documented = {"loupe": loupe} | {name: getattr(loupe, name) for name in loupe.__all__}
    finder = doctest.DocTestFinder(recurse=False)
    tests = [test for name, value in documented.items() for test in finder.find(value, name, globs={})]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        runner.run(test)
    assert runner.tries > 0
    assert not runner.failures
