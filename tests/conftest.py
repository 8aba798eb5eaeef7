"""Fixtures that run the app with tiny checkpoints in place of the trained ones: random weights, the same names."""

import gc
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import streamlit as st
import torch
from hypothesis import settings
from safetensors.numpy import save_file
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from app_pages.controls.address import Choice
from app_pages.controls.pages import FIRST, PAGES, Page, link
from app_pages.subject import cache
from model import checkpoint
from model.inputs.digits import examples
from model.loaded import Loaded
from model.train.snapshot import join_snapshots, take_snapshot
from tests.first_run import run_at
from tests.model import tiny
from tests.viz.export.offline_parts import VEGA

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("few", deadline=None, max_examples=10)
settings.register_profile("many", deadline=None, max_examples=100)
settings.load_profile("few")
# Figures are compared to the last bit, and with the CPU's; what a test starts inherits this.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

# While a page is drawn AppTest asks a thousand times a second whether it is done, among all that the page has sent, and gives
# up after seconds: on a busy machine asking took as long as the page.
check_end = local_script_runner.require_widgets_deltas


def wait_for_page(runner: LocalScriptRunner, _timeout: float) -> None:
    runner._script_thread.join(timeout=180)
    check_end(runner)


local_script_runner.require_widgets_deltas = wait_for_page

# What is imported while tests are collected stays in memory. Searching it for garbage took ten seconds in each process,
# and another second for each full collection.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `rest_is_slow`, every case but the first is marked as slow."""
    first = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        if item.get_closest_marker("rest_is_slow") and function in first:
            item.add_marker(pytest.mark.slow)
        first.add(function)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Types and shapes are checked at run time where the model itself is tested: on pages that took a third of the time."""
    is_of_the_model = item.path.is_relative_to(TESTS / "model")
    jaxtyping.config.update("jaxtyping_disable", not is_of_the_model)


class FewBrowsers(LoadFileScheduling):
    """A test file runs in one process, and all files that need the browser in two processes, or in every second of more.

    Each of them has one server and one Chromium. In a single one they took longer than all other tests together. What takes
    longest begins first.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        if not nodeid.startswith(BROWSER):
            return file
        return f"{BROWSER}{len(file) % max(2, self.numnodes // 2)}"

    def _assign_work_unit(self, node: WorkerController) -> None:
        for scope in [scope for scope in self.workqueue if scope.startswith(LONGEST)][::-1]:
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FewBrowsers:
    return FewBrowsers(config, log)


TESTS = Path(__file__).parent
BROWSER = "tests/browser/"
LONGEST = (
    BROWSER,
    "tests/model/train/test_main.py",
    "tests/app_pages/test_reloads.py",
    "tests/test_library.py",
    "tests/test_faults.py",
)
APP = TESTS.parent / "app.py"

ACCURACY = {"n": 10_000, "accuracy": 0.9951, "loss": 0.0213, "data": "MNIST test digits"}
# The history of a training run with two phases, of 2 and 3 steps.
HISTORY = {
    "recipe": {"phases": [{"task": "digits"}, {"task": "gently changed digits"}]},
    "probes": ["test digit 3", "test digit 18"],
    "log": [
        {"phase": phase, "step": step, "loss": 2.0 - step, "learning_rate": 1e-3, "gradient_norm": 3.0}
        for phase, steps in enumerate((2, 3))
        for step in range(steps)
    ],
    "evaluations": [
        {"phase": phase, "step": step, "n": 10, "accuracy": 0.5, "loss": 1.0}
        for phase, step in ((0, 1), (1, 2))
    ],
}


def training_film(loaded: Loaded) -> dict[str, torch.Tensor]:
    """A recording of the training: one frame for the first and the last step of each of the two phases."""
    probes = [examples()[0][index] for index in (3, 18)]
    torch.manual_seed(0)
    loaded.model(torch.rand(3, 8, 8)).sum().backward()
    return join_snapshots(
        [take_snapshot(loaded, probes, *when, 0.5) for when in ((0, 0), (0, 1), (1, 0), (1, 2))]
    )


@pytest.fixture
def without_vega(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline pages and figures in notebooks get no script that draws their chart: it takes seconds to make."""
    for page in ("viz.export.offline_page", "viz.builders.figure_page"):
        monkeypatch.setattr(f"{page}.vega_bundle", lambda: VEGA)


@pytest.fixture(scope="session")
def saved_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of four checkpoints, two for text and two for digits. No test may write to it."""
    folder, rng = tmp_path_factory.mktemp("checkpoints"), np.random.default_rng(0)
    for seed, name in enumerate(("imdb-post-ln", "imdb-pre-ln", "mnist-post-ln", "mnist-pre-ln")):
        text = replace(tiny.TEXT, masked_token_output=True)
        config = text if name.startswith("imdb") else tiny.DIGIT
        if name.endswith("post-ln"):
            config = replace(config, norm_placement="post", final_norm=False)
        loaded = tiny.loaded(config, seed)
        figures = {"figures": ACCURACY} if name == "mnist-post-ln" else {}
        recorded = None if loaded.config.is_text else training_film(loaded)
        checkpoint.save(folder / name, loaded.model, HISTORY | figures, loaded.tokenizer, recorded)
        if recorded is not None:
            predicted, loss = rng.integers(0, 10, 10_000, np.uint8), rng.random(10_000, np.float32)
            save_file({"predicted": predicted, "loss": loss}, folder / name / "predictions.safetensors")
    return folder


@pytest.fixture
def checkpoints(saved_checkpoints: Path, tmp_path: Path, app_at: Callable[[Path], None]) -> Path:
    """A copy of the checkpoints, which the app reads and the test may change."""
    folder = shutil.copytree(saved_checkpoints, tmp_path / "checkpoints")
    app_at(folder)
    return folder


@pytest.fixture
def app_at(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], None]]:
    """`app_at(folder)` lets the app read the checkpoints in that folder.

    What the app has computed stays from test to test, by the content of the encoder's files; where a test replaces functions, it
    begins and ends with nothing computed.
    """
    is_patched = "monkeypatch" in request.fixturenames
    st.cache_resource.clear()
    st.cache_data.clear()
    if is_patched:
        cache.clear()
    with pytest.MonkeyPatch.context() as own:
        patch = request.getfixturevalue("monkeypatch") if is_patched else own
        yield lambda folder: patch.setattr(checkpoint, "CHECKPOINTS", folder)
    if is_patched:
        cache.clear()


@pytest.fixture(scope="session")
def page_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty file for each page, called as the page is in the address.

    Before its first run, which costs as much as the page itself, AppTest knows a page by the name of a file alone.
    """
    folder = tmp_path_factory.mktemp("pages")
    for page in PAGES.values():
        (folder / f"{page.name}.py").touch()
    return folder


@pytest.fixture
def open_app(
    request: pytest.FixtureRequest, saved_checkpoints: Path, app_at: Callable[[Path], None], page_files: Path
) -> Callable[..., AppTest]:
    """`open_app(MASKS, MASK.to("Causal"))` returns the app after its first run, at the address of that link.

    The page can also be given by its file, and what stands in the address as keywords. Raises AssertionError for a key or an
    option that does not exist, unless the key is in `forgiven`. `session` is put into the session state before the run.
    """
    if "checkpoints" not in request.fixturenames:
        app_at(saved_checkpoints)

    def open_page(
        page: Page | str | None = None,
        *choices: Choice,
        forgiven: Collection[str] = (),
        session: Mapping[str, object] | None = None,
        **query: str,
    ) -> AppTest:
        app = AppTest.from_file(str(APP))
        page = page if isinstance(page, Page) else FIRST if page is None else PAGES[Path(page).parent.name]
        if page is not FIRST:
            app.switch_page(str(page_files / f"{page.name}.py"))
        for key, value in (session or {}).items():
            app.session_state[key] = value
        return run_at(app, {**link(page, *choices).query, **query}, forgiven=forgiven)

    return open_page
