"""What `pip install .` installs, outside the clone."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from model.checkpoint import save
from model.version import VERSION
from tests.model import tiny

ROOT = Path(__file__).parents[1]
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
    for part in ("model", "viz"):
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source / name)
    build = (
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--wheel-dir",
        home / "wheels",
        source,
    )
    subprocess.run([*PIP, *map(str, build)], check=True, capture_output=True)
    (wheel,) = (home / "wheels").iterdir()
    assert VERSION in wheel.name
    into = ("install", "--no-deps", "--no-index", "--target", home / "site", wheel)
    subprocess.run([*PIP, *map(str, into)], check=True, capture_output=True)
    return home / "site"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Where a notebook runs, with a checkpoint, and with files of its own that have our folders' names."""
    for name in ("model", "viz", "app_pages"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('this is somebody else')")
    loaded = tiny.loaded(tiny.TEXT)
    save(tmp_path / "checkpoints" / "imdb-pre-ln", loaded.model, {}, loaded.tokenizer)
    return tmp_path


def run(site: Path, where: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Python in that folder, with the installed library beside what the environment has."""
    environment = {"PYTHONPATH": str(site), "PATH": "", "HOME": str(where), "OMP_NUM_THREADS": "1"}
    environment["PLOTLY_RENDERER"] = "plotly_mimetype"  # which a notebook finds out by itself
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, check=False)


def test_the_lines_of_the_notebook_run_outside_the_clone(site: Path, elsewhere: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/notebook.md").read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    shown = ("head_overview(", "attention_heatmap(", "token_strip(")
    script = "\n".join(f"show({line})" if line.startswith(shown) else line for line in lines)
    done = run(site, elsewhere, "-c", SHOW + script + "\nimport sys; print('streamlit' in sys.modules)")
    assert not done.stderr
    *bundles, streamlit = done.stdout.splitlines()
    assert len(bundles) == sum(line.startswith(shown) for line in lines) >= 5
    assert all("text/html" in bundle or "vega" in bundle or "plotly" in bundle for bundle in bundles)
    assert streamlit == "False"
    assert (elsewhere / "record.npz").is_file()


def test_the_command_of_the_notebook_runs(site: Path, elsewhere: Path) -> None:
    asked = ("checkpoints/imdb-pre-ln", "--text", "a film", "--out", "a.safetensors")
    done = run(site, elsewhere, "-m", "loupe.model.capture", *asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert (elsewhere / "a.safetensors").is_file()
    for name in ("heads.html", "heads.svg"):
        done = run(site, elsewhere, "-m", "loupe.viz.export", "a.safetensors", "--out", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert (elsewhere / name).is_file()


def test_a_checkpoint_that_is_not_installed_is_said_so(site: Path, elsewhere: Path) -> None:
    done = run(site, elsewhere, "-m", "loupe.model.capture", "mnist-pre-ln", "--text", "a", "--out", "a.npz")
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert (
        "trained encoders are not installed with the library: name the path of a checkpoint's folder" in said
    )
    assert str(site) not in said


def test_what_the_modules_read_is_installed_with_them(site: Path) -> None:
    for part in ("model", "viz"):
        ours = {
            path.relative_to(ROOT / part)
            for path in (ROOT / part).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert {
            path.relative_to(site / "loupe" / part)
            for path in (site / "loupe" / part).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        } == ours


def test_it_asks_for_what_the_app_asks_for_but_for_the_apps_own() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    pinned = dict(line.split("==") for line in (ROOT / "requirements.txt").read_text().splitlines())
    assert dict(each.split(">=") for each in asked) == {
        name: version for name, version in pinned.items() if name not in OF_THE_APP
    }
