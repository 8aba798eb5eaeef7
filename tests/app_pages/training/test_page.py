import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save
from streamlit.testing.v1 import AppTest

from app_pages.training import page
from app_pages.training.page import MOST
from app_pages.training.tasks import GLANCES, TASKS, task_names_text
from model import checkpoint
from model.train.task_digits import Digits
from model.train.task_reviews import Sentiment, TrueLabels
from model.train.task_sentences import CombinedTask
from tests.app_pages.charts import component, described
from tests.app_pages.shown_text import page_text
from tests.model import tiny

VALUES = ("loss", "accuracy", "learning_rate", "gradient_norm")
HISTORY = {"training": "Training history"}


@pytest.fixture
def open_training(open_app: Callable[..., AppTest]) -> Callable[..., AppTest]:
    return lambda **query: open_app("app_pages/training/page.py", **{"kind": "Digit"} | query)


def player(app: AppTest) -> dict:
    """What the script of the player is told."""
    return component(app, "training_player")


def send(app: AppTest, message: object) -> AppTest:
    """The app after the script of the player sent it this message."""
    (block,) = (
        block.proto for block in app.get("bidi_component") if block.proto.component_name == "training_player"
    )
    states = app._tree.get_widget_states()
    trigger = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{block.id}__events")
    trigger.json_trigger_value = json.dumps([{"event": "chosen", "value": message}])
    return app._run(states)


def change_film(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    """Replaces the arrays of a recording by those that `change` makes of them."""
    path = folder / "mnist-pre-ln" / "film.safetensors.gz"
    path.write_bytes(gzip.compress(save(change(load(gzip.decompress(path.read_bytes()))))))


def test_the_film_has_every_moment_of_both_of_a_pair(open_training):
    app = open_training(moment="2")
    state = player(app)
    assert state["moment"] == 2
    assert len(state["texts"]) == 4
    assert state["texts"][2] == (
        "step 2 of 5, phase: gently changed digits, accuracy mnist-pre-ln 50.0\u2009%, mnist-post-ln 50.0\u2009%"
    )
    assert "test digit 3" in app.get_by_key("training_probe").options
    assert len(app.get("vega_lite_chart")) == 5  # the film; formation and curves of both
    assert "Both encoders are shown at the same training step." in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("written", "moment"), [("99", 3), ("-1", 3), ("soon", 3), ("", 3), ("0", 0)])
def test_without_a_moment_that_there_is_the_trained_encoder_is_shown(open_training, written, moment):
    assert player(open_training(moment=written))["moment"] == moment


def test_runs_of_other_lengths_are_shown_at_the_same_share(open_training, checkpoints):
    change_film(checkpoints, lambda film: {name: array[[0, 2, 3]] for name, array in film.items()})
    app = open_training()
    assert player(app)["texts"][-1] == (
        "mnist-pre-ln: step 3 of 4, phase: gently changed digits, accuracy 50.0\u2009%; "
        "mnist-post-ln: step 4 of 5, phase: gently changed digits, accuracy 50.0\u2009%"
    )
    assert "both are shown at the same share of their recorded moments" in page_text(app)


def test_the_address_follows_what_the_browser_stops_at(open_training):
    app = open_training()
    stamp = player(app)["stamp"]
    assert player(send(app, {"stamp": stamp, "moment": 0}))["moment"] == 0
    assert app.query_params["moment"] == "0"
    assert player(send(app, {"stamp": stamp, "moment": 3}))["moment"] == 3
    assert "moment" not in app.query_params


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "message",
    [
        None,
        3,
        {},
        {"moment": 3},
        {"stamp": "other", "moment": 3},
        {"moment": 4},
        {"moment": -1},
        {"moment": "3"},
    ],
)
def test_a_message_that_means_nothing_here_changes_nothing(open_training, message):
    app = open_training(moment="1")
    if isinstance(message, dict) and message.get("moment") != 3:
        message |= {"stamp": player(app)["stamp"]}
    assert player(send(app, message))["moment"] == 1


def test_another_input_is_another_film(open_training):
    app = open_training()
    before = player(app)["stamp"]
    assert player(app.get_by_key("training_probe").select("test digit 18").run())["stamp"] != before
    assert player(app.get_by_key("scale").set_value("to own maximum").run())["stamp"] != before


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("curves", ["accuracy", "entropy of the heads", "residual norms", "gradient norms"])
def test_every_curve(open_training, curves):
    text = page_text(open_training(training_curves=curves))
    assert ("after clipping the whole gradient" in text) == (curves == "gradient norms")


def test_an_accuracy_that_was_not_measured_is_not_drawn_as_one(open_training, checkpoints):
    no_accuracy = torch.tensor([0.5, torch.nan, torch.nan, 0.5])
    change_film(checkpoints, lambda film: film | {"accuracy": no_accuracy.to(film["accuracy"].dtype)})
    app = open_training()
    assert player(app)["texts"][1] == (
        "step 1 of 5, phase: digits, accuracy mnist-pre-ln not measured, mnist-post-ln 50.0\u2009%"
    )
    assert "Where a line has a gap, accuracy was not measured." in page_text(app)


def test_without_a_film_the_page_says_so(open_training):
    assert "There is no recording of imdb-pre-ln and imdb-post-ln." in page_text(open_training(kind="Text"))


def test_a_damaged_film_gives_one_sentence(open_training, checkpoints):
    (checkpoints / "mnist-pre-ln" / "film.safetensors.gz").write_bytes(b"x")
    assert "This cannot be shown: " in page_text(open_training())


def test_histories_are_drawn_for_both(open_training):
    app = open_training(**HISTORY, training_log="true")
    assert "**mnist-post-ln** 99.51 ± 0.07 % of 10,000 MNIST test digits" in page_text(app)
    assert page_text(app).count("Tasks: 1 digits · 2 gently changed digits") == 1  # of both
    assert len(app.get("vega_lite_chart")) == 4
    axis = described(app, "accuracy on held-out data")["layer"][1]["encoding"]["y"]["axis"]
    assert axis["format"].endswith("%")


def test_a_curve_that_is_the_same_in_both_runs_is_drawn_once(open_training, checkpoints, monkeypatch):
    path = checkpoints / "mnist-post-ln" / "history.json"
    history = json.loads(path.read_text())
    history["log"][0]["loss"] += 1
    path.write_text(json.dumps(history))
    drawn = {}
    monkeypatch.setattr(page, "run_curves", lambda _, *, y_title, runs, **__: drawn.setdefault(y_title, runs))
    monkeypatch.setattr(page, "show", lambda chart, **_: chart())
    assert not open_training(**HISTORY).exception
    assert [*drawn["learning rate"]] == ["both"]
    assert [*drawn["training loss in nats"]] == ["mnist-pre-ln", "mnist-post-ln"]


@pytest.mark.slow
def test_of_a_long_run_no_more_is_drawn_than_can_be_seen(open_training, checkpoints, monkeypatch):
    n = 9 * MOST
    rows = [{"phase": 0, "step": step, "n": 10, **dict.fromkeys(VALUES, 0.5)} for step in range(n)]
    history = {"recipe": {"phases": [{"task": "unchanged digits"}]}, "log": rows, "evaluations": rows}
    checkpoint.save(checkpoints / "long", tiny.loaded(tiny.DIGIT).model, history)
    drawn = {}
    monkeypatch.setattr(page, "run_curves", lambda table, *, title, **_: drawn.setdefault(title, table))
    monkeypatch.setattr(page, "show", lambda chart, **_: chart())
    assert not open_training(**HISTORY, checkpoint="long").exception
    assert [len(table) for table in drawn.values()] == [MOST] * 4
    assert list(drawn) == [
        "training loss in nats, mean of 9 logged batches",
        "accuracy on training digits, 1 entry in 9 drawn",
        "learning rate, 1 entry in 9 drawn",
        "gradient norm, before clipping, mean of 9 logged batches",
    ]


def test_tasks_are_explained_and_bands_only_where_there_are_any(open_training, checkpoints):
    history = {"recipe": {"phases": [{"task": "unchanged digits"}]}}
    checkpoint.save(checkpoints / "one-phase", tiny.loaded(tiny.DIGIT).model, history)
    both = open_training(**HISTORY)
    assert [expander.label for expander in both.expander] == ["What the tasks are"]
    assert "**gently changed digits**" in page_text(both)
    assert "A band is a task" in page_text(both)
    assert "A band is a task" not in page_text(open_training(**HISTORY, checkpoint="one-phase"))


def test_the_page_needs_no_input(open_training):
    app = open_training(**HISTORY, kind="Text", text="")
    assert not app.text_area
    assert "**imdb-pre-ln**" in page_text(app)


def test_a_phase_that_goes_on_with_another_schedule_is_not_told_as_another_task():
    assert task_names_text(("masked tokens", "masked tokens", "sentiment")) == (
        "1 hidden words · 2 whole reviews"
    )
    assert task_names_text(()) == ""


def test_an_accuracy_on_the_way_need_not_say_of_how_many_examples_it_is(open_training, checkpoints):
    path = checkpoints / "mnist-post-ln" / "history.json"
    history = json.loads(path.read_text())
    del history["evaluations"][1]["n"]
    path.write_text(json.dumps(history))
    assert not open_training(**HISTORY).exception


def test_a_film_is_judged_on_as_many_as_the_tasks_glance_at():
    glances = {"digits": Digits, "sentiment": Sentiment, "true labels": TrueLabels, "sentences": CombinedTask}
    assert {task: GLANCES[task][0] for task in glances} == {
        task: kind.n_glance for task, kind in glances.items()
    }
    assert set(TASKS) - set(GLANCES) == {"masked tokens", "masked tokens, short windows"}
