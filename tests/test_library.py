"""The library: its names in the clone, and what `pip install .` installs outside of it."""

import ast
import doctest
import re
import signal
import subprocess
import sys
import tomllib
import urllib.request
import venv
import zipfile
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from inspect import isfunction, unwrap
from pathlib import Path
from typing import Any

import pytest

import loupe
from loupe import from_arrays, save_record
from model.version import VERSION

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL = 45e6  # bytes
# All in the folder `loupe` of an installation. Of the docs it has what the app shows.
INSTALLED = (
    "app.py",
    "app_pages",
    "checkpoints",
    "docs/reading.md",
    "examples",
    "model",
    "viz",
    ".streamlit/config.toml",
)
# As a notebook asks the value of a cell how to show it.
SHOW = """def in_a_cell(value):
    print(value._repr_html_()[:7])

"""
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel; building it leaves nothing beside the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    assert VERSION in path.name
    return path


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the wheel in it."""
    folder = tmp_path_factory.mktemp("library") / "site"
    install = ("install", "--no-deps", "--no-index", "--target", folder, wheel)
    subprocess.run([*PIP, *map(str, install)], check=True, capture_output=True)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Where a notebook runs, with the checkpoints and examples, and with files of its own that have our folders' names."""
    for name in ("model", "viz", "app_pages"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('this is somebody else')")
    for name in ("checkpoints", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Python in that folder, with the installed library beside what the environment has."""
    environment = {"PYTHONPATH": str(site), "PATH": "", "HOME": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def notebook(page: str = "docs/notebook.md") -> list[str]:
    """The lines of all code blocks of the page."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("page", ["docs/notebook.md", "AGENTS.md"])
def test_the_notebook_imports_nothing_of_ours_but_names_of_loupe(page):
    modules = {
        node.module: {alias.name for alias in node.names}
        for node in ast.walk(ast.parse("\n".join(notebook(page))))
        if isinstance(node, ast.ImportFrom)
    }
    assert set(modules) == {"loupe"}


@pytest.mark.slow
def test_the_lines_of_the_notebook_run_outside_the_clone(site, elsewhere):
    lines = notebook()
    figures = ("show(", "linked_heads(", "head_overview(", "attention_heatmap(", "token_strip(")
    script = "\n".join(f"in_a_cell({line})" if line.startswith(figures) else line for line in lines)
    result = run(site, elsewhere, "-c", SHOW + script + "\nimport sys; print('streamlit' in sys.modules)")
    assert not result.stderr
    *shown, streamlit = result.stdout.splitlines()
    assert shown == ["<iframe"] * sum(line.startswith(figures) for line in lines)
    assert len(shown) >= 6
    assert streamlit == "False"
    assert (elsewhere / "record.npz").is_file()


@pytest.mark.slow
def test_the_commands_of_the_notebook_run(site, elsewhere):
    capture = ("checkpoints/imdb-pre-ln", "--text", "a film", "--out", "a.safetensors")
    result = run(site, elsewhere, "-m", "loupe.model.capture", *capture)
    assert (result.returncode, result.stderr) == (0, "")
    assert (elsewhere / "a.safetensors").is_file()
    for name in ("heads.html", "heads.svg"):
        result = run(site, elsewhere, "-m", "loupe.viz.export", "a.safetensors", "--out", name)
        assert (result.returncode, result.stderr) == (0, "")
        assert (elsewhere / name).is_file()


@pytest.mark.slow
def test_the_shipped_encoders_are_installed(site, elsewhere):
    (elsewhere / "checkpoints").unlink()
    script = "from loupe import available, load; print(len(available()), load('mnist-pre-ln', device='cpu'))"
    result = run(site, elsewhere, "-c", script)
    expected = "14 Loaded('mnist-pre-ln', picture encoder, 6 layers × 4 heads, 305,034 parameters, cpu)\n"
    assert (result.stderr, result.stdout) == ("", expected)


@pytest.mark.slow
def test_what_the_modules_read_is_installed_with_them_in_one_folder(site):
    tracked = subprocess.run(
        ["git", "ls-files", "loupe", *INSTALLED], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    expected = {name.removeprefix("loupe/") for name in tracked if not name.startswith("model/train/")}
    files = {
        path.relative_to(site / "loupe").as_posix() for path in (site / "loupe").rglob("*") if path.is_file()
    }
    assert {name for name in files if "__pycache__" not in name} == expected
    assert {path.name for path in site.iterdir()} == {"loupe", "bin", f"attention_loupe-{VERSION}.dist-info"}


@pytest.mark.slow
def test_the_wheel_is_small_and_holds_no_module_twice(wheel):
    assert wheel.stat().st_size <= LARGEST_WHEEL
    with zipfile.ZipFile(wheel) as files:
        modules = [files.read(name) for name in files.namelist() if name.endswith((".py", ".css", ".js"))]
    contents = [content for content in modules if content]
    assert len(set(contents)) == len(contents)


@pytest.mark.slow
def test_the_installed_command_serves_the_app(site, elsewhere):
    environment = {"PYTHONPATH": str(site), "HOME": str(elsewhere), "PATH": ""}
    (elsewhere / "checkpoints").unlink()
    command = [sys.executable, site / "bin" / "attention-loupe", "--text", "a film"]
    server = subprocess.Popen(
        command, cwd=elsewhere, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = server.stdout.readline()
        address = re.fullmatch(
            r"Attention Loupe: (http://127\.0\.0\.1:\d+/)\?kind=Text&text=a\+film\n", line
        )[1]
        with urllib.request.urlopen(f"{address}_stcore/health", timeout=60) as answer:
            assert answer.status == 200
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    finally:
        server.kill()
    assert server.returncode == 130
    assert "Traceback" not in errors


@pytest.fixture(scope="module")
def without_torch(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own, in which is the wheel, what it needs by itself and what that needs, and nothing else.

    It is made of the packages that are here: nothing is fetched.
    """
    folder = tmp_path_factory.mktemp("without_torch")
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    names, wanted = set(), [requirement.split(">=")[0] for requirement in project()["dependencies"]]
    while wanted:
        name = re.sub("[-_.]+", "-", wanted.pop()).lower()
        if name in names:
            continue
        names.add(name)
        for file in {
            Path(file).parts[0] for file in distribution(name).files or () if ".." not in Path(file).parts
        }:
            if not (packages / file).exists():
                (packages / file).symlink_to(distribution(name).locate_file(file))
        for requirement in distribution(name).requires or ():
            needed, _, marker = requirement.partition(";")
            if "extra" not in marker and (match := re.match(r"[\w.-]+", needed)) and is_installed(match[0]):
                wanted.append(match[0])  # what other systems need is not installed here
    (packages / "loupe").symlink_to(site / "loupe")
    return folder / "venv/bin/python"


def is_installed(name: str) -> bool:
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


@pytest.mark.slow
def test_bare_attention_is_drawn_saved_and_read_where_torch_is_not_installed(without_torch, tmp_path):
    script = """
import importlib.util, numpy
from loupe import ExportStyle, attention_heatmap, from_arrays, head_overview, head_table, latex_table, linked_heads
from loupe import read_record, save_figure, save_record
print([name for name in ("torch", "tokenizers", "sklearn", "scipy", "streamlit") if importlib.util.find_spec(name)])
pattern = numpy.random.default_rng(0).dirichlet(numpy.ones(4), (2, 3, 4))
save_record(from_arrays(pattern, ["[CLS]", "film", "##s", "[SEP]"]), "a.npz", {})
record = read_record("a.npz")
figure = attention_heatmap(record, layer=0, head=1)
save_figure(figure, "a.pdf", ExportStyle(width_cm=8.5, font_pt=8, numbers="all"))
save_figure(head_overview(record), "a.png")
save_figure(figure, "a.csv")
save_figure(figure, "a.parquet")
linked_heads(record)
print(latex_table(head_table(record)[["layer", "head"]]).splitlines()[2][:15])
try:
    from loupe import load
except ImportError as error:
    print(error)
"""
    result = subprocess.run(
        [without_torch, "-W", "error", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "[]",
        "\\begin{tabular}",
        "loupe.load needs torch: pip install 'attention-loupe[model]'",
    ]
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
def test_a_record_becomes_a_file_from_the_shell_where_torch_is_not_installed(without_torch, tmp_path):
    save_record(from_arrays([[[[1.0]]]], ["a"]), tmp_path / "a.npz", {})
    for name in ("a.pdf", "a.html"):
        command = [without_torch, "-m", "loupe.viz.export", "a.npz", "--out", name]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, "")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def version(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text.partition(".post")[0])]


def test_an_installation_needs_what_the_clone_needs():
    extras = project()["optional-dependencies"]
    of_the_app = [requirement for requirement in extras["app"] if requirement != "attention-loupe[model]"]
    needed = [*project()["dependencies"], *extras["model"], *of_the_app]
    lowest = dict(re.split("[>=]=", requirement) for requirement in needed)
    pinned = dict(line.split("==") for line in (ROOT / "requirements.txt").read_text().splitlines())
    assert len(lowest) == len(needed)
    assert set(lowest) == set(pinned)
    assert all(version(lowest[name]) <= version(pinned[name]) for name in lowest)
    assert lowest["streamlit"] == pinned["streamlit"]


# In the clone


@pytest.mark.usefixtures("without_vega")
def test_the_lines_for_coding_assistants_run_in_the_clone(elsewhere, monkeypatch):
    monkeypatch.chdir(elsewhere)
    names: dict[str, Any] = {}
    exec("\n".join(notebook("AGENTS.md")), names)
    assert names["record"].pattern.shape == (4, 4, 8, 8)
    assert names["rollout"].pattern.shape == (4, 1, 6, 6)
    assert names["without_head"].shape == (1, 4, 4, 2)
    assert names["without_token"].shape == (5, 2)  # [CLS] stays
    assert names["causal"].shape == (1, 1, 2)
    assert (elsewhere / "heads.html").is_file()
    assert (elsewhere / "head.pdf").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("without_vega")
def test_the_lines_of_the_notebook_run_in_the_clone(elsewhere, monkeypatch):
    monkeypatch.chdir(elsewhere)
    names: dict[str, Any] = {}
    exec("\n".join(notebook()), names)
    assert names["record"].tokens == ("[CLS]", "film", "##s", "[SEP]")
    assert names["words"].tokens == ("films",)
    assert names["answers"].shape == (7, 2)  # each of the eight tokens but [CLS] is left out once
    assert names["guesses"][4][0].probability > 0.1
    assert names["attributed"].gap <= 1e-3
    assert names["followed"]["share"].gt(names["followed"]["baseline"]).all()


@pytest.mark.parametrize("name", loupe.__all__)
def test_a_name_is_what_the_module_has_and_its_description_lists_it(name):
    module, original = loupe.SOURCES[name]
    value = getattr(loupe, name)
    assert value is getattr(import_module(module), original)
    if isfunction(unwrap(value)):
        assert ">>> from loupe import" in (value.__doc__ or "")
    assert f"`{name}`" in loupe.__doc__
    assert name in dir(loupe)


def test_no_module_is_loaded_twice():
    assert all(hasattr(loupe, name) for name in loupe.__all__)
    ours = [name for name in sys.modules if name.startswith(("loupe.model", "loupe.viz"))]
    assert all(sys.modules[name] is sys.modules[name.removeprefix("loupe.")] for name in ours)


def test_a_module_of_the_library_is_the_same_in_a_clone():
    inner = import_module("loupe.viz.builders.palette")
    assert inner is import_module("viz.builders.palette")
    assert inner.__spec__.name == "viz.builders.palette"
    assert inner.WeightScale is import_module("loupe.viz.builders").palette.WeightScale


def test_other_names_are_missing_as_in_any_module():
    with pytest.raises(AttributeError, match="module 'loupe' has no attribute 'lode'"):
        getattr(loupe, "lode")  # noqa: B009 - type checkers know that it is missing


@pytest.mark.slow
def test_the_examples_of_the_docstrings_are_right(monkeypatch):
    monkeypatch.chdir(ROOT)
    documented = {"loupe": loupe} | {name: getattr(loupe, name) for name in loupe.__all__}
    finder = doctest.DocTestFinder(recurse=False)
    tests = [test for name, value in documented.items() for test in finder.find(value, name, globs={})]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        runner.run(test)
    assert runner.tries > 0
    assert not runner.failures
