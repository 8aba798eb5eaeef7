"""What somebody has written into a checkpoint is text on every page: Markdown would have readers' browsers fetch a picture
that it names."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

IMAGE = "![x](http://192.0.2.1/x.png)"
NAME = "mnist-post-ln"


@pytest.fixture
def history(checkpoints: Path) -> None:
    """Of which every word is a picture."""
    path = checkpoints / NAME / "history.json"
    said = json.loads(path.read_text())
    said["figures"]["data"] = said["recipe"]["published"] = said["precision"] = IMAGE
    for phase in said["recipe"]["phases"]:
        phase |= {"task": IMAGE, "optimizer": IMAGE}
    said["probes"] = [IMAGE for _ in said["probes"]]
    path.write_text(json.dumps(said))


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("page", "part"),
    [("attention", {}), ("training", {}), ("training", {"training": "Training history"})],
)
def test_words_of_a_history_are_no_markdown(
    open_app: Callable[..., AppTest], page: str, part: dict[str, str]
) -> None:
    app = open_app(f"app_pages/{page}/page.py", kind="Digit", checkpoint=NAME, **part)
    assert not app.exception
    said = "\n".join(each.value for each in (*app.markdown, *app.caption, *app.info, *app.warning))
    assert IMAGE not in said
    assert "\\!\\[x\\]" in said or "!\\[x\\]" in said


@pytest.fixture
def classes(checkpoints: Path) -> None:
    """Of which every name is a picture."""
    path = checkpoints / NAME / "config.json"
    said = json.loads(path.read_text())
    said["class_names"] = [f"{IMAGE}{number}" for number in range(len(said["class_names"]))]
    path.write_text(json.dumps(said))


@pytest.mark.usefixtures("classes")
@pytest.mark.parametrize("page", ["attention", "masks", "compare", "heads", "inside_a_head", "positions"])
def test_names_of_classes_are_no_markdown(open_app: Callable[..., AppTest], page: str) -> None:
    app = open_app(f"app_pages/{page}/page.py", kind="Digit", checkpoint=NAME)
    assert not app.exception
    said = [each.value for each in (*app.markdown, *app.caption, *app.info, *app.warning)]
    said += [f"{each.label}\n{each.value}\n{each.delta}" for each in app.metric]
    assert IMAGE not in "\n".join(said)
    if page == "attention":
        assert any("\\!\\[x\\]" in each for each in said)
    if page == "masks":  # as text of a page, in which Markdown means nothing
        assert any(
            "two-answers" in block.proto.body and "![x]" in block.proto.body for block in app.get("html")
        )
