"""What somebody has written into a checkpoint is text on every page: Markdown would have readers' browsers fetch a picture
that it names."""

import json
from pathlib import Path

import pytest

IMAGE = "![x](http://192.0.2.1/x.png)"
NAME = "mnist-post-ln"


@pytest.fixture
def history(checkpoints: Path) -> None:
    """Of which every word is a picture."""
    path = checkpoints / NAME / "history.json"
    content = json.loads(path.read_text())
    content["figures"]["data"] = content["recipe"]["published"] = content["precision"] = IMAGE
    for phase in content["recipe"]["phases"]:
        phase |= {"task": IMAGE, "optimizer": IMAGE}
    content["probes"] = [IMAGE for _ in content["probes"]]
    path.write_text(json.dumps(content))


@pytest.mark.rest_is_slow
@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("page", "part"),
    [("attention", {}), ("training", {}), ("training", {"training": "Training history"})],
)
def test_words_of_a_history_are_no_markdown(open_app, page, part):
    app = open_app(f"app_pages/{page}/page.py", kind="Digit", checkpoint=NAME, **part)
    assert not app.exception
    message = "\n".join(item.value for item in (*app.markdown, *app.caption, *app.info, *app.warning))
    assert IMAGE not in message
    assert "\\!\\[x\\]" in message or "!\\[x\\]" in message


@pytest.fixture
def classes(checkpoints: Path) -> None:
    """Of which every name is a picture."""
    path = checkpoints / NAME / "config.json"
    content = json.loads(path.read_text())
    content["class_names"] = [f"{IMAGE}{number}" for number in range(len(content["class_names"]))]
    path.write_text(json.dumps(content))


@pytest.mark.rest_is_slow
@pytest.mark.usefixtures("classes")
@pytest.mark.parametrize("page", ["attention", "masks", "compare", "heads", "inside_a_head", "positions"])
def test_names_of_classes_are_no_markdown(open_app, page):
    app = open_app(f"app_pages/{page}/page.py", kind="Digit", checkpoint=NAME)
    assert not app.exception
    texts = [item.value for item in (*app.markdown, *app.caption, *app.info, *app.warning)]
    texts += [f"{item.label}\n{item.value}\n{item.delta}" for item in app.metric]
    assert IMAGE not in "\n".join(texts)
    if page == "attention":
        assert any("\\!\\[x\\]" in item for item in texts)
    if page == "masks":  # as text of a page, in which Markdown means nothing
        assert any(
            "two-answers" in block.proto.body and "![x]" in block.proto.body for block in app.get("html")
        )
