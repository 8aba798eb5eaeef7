import gzip
import json

import pytest
import torch
from safetensors.torch import load, save
from streamlit.testing.v1 import AppTest

from app_pages.controls import input_controls, training_controls
from app_pages.controls.input_controls import KIND
from app_pages.training import page
from app_pages.training.page import MOST
from app_pages.training.tasks import GLANCES, TASKS, task_names_text
from model import checkpoint
from model.train.task_digits import Digits
from model.train.task_reviews import Sentiment, TrueLabels
from model.train.task_sentences import CombinedTask
from tests.model import tiny

VALUES = ("loss", "accuracy", "learning_rate", "gradient_norm")
PAGE = "app_pages/training/page.py"


def text(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(part.value for part in (*app.markdown, *app.caption, *app.info))


def player(app: AppTest) -> dict:
    """What the script of the player is told."""
    assert not app.exception
    (component,) = (
        block.proto for block in app.get("bidi_component") if block.proto.component_name == "training_player"
    )
    return json.loads(component.json)


def send(app: AppTest, message: object) -> AppTest:
    """The app after the script of the player sent it this message."""
    (component,) = (
        block.proto for block in app.get("bidi_component") if block.proto.component_name == "training_player"
    )
    states = app._tree.get_widget_states()
    trigger = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events")
    trigger.json_trigger_value = json.dumps([{"event": "chosen", "value": message}])
    return app._run(states)


def test_the_film_has_every_moment_of_both_of_a_pair(open_app):
    app = open_app(PAGE, input_controls.KIND.to("Digit"), training_controls.MOMENT.to("2"))
    state = player(app)
    assert state["moment"] == 2
    assert len(state["texts"]) == 4
    assert state["texts"][2] == (
        "step 2 of 5, phase: gently changed digits, accuracy mnist-pre-ln 50.0\u2009%, mnist-post-ln 50.0\u2009%"
    )
    assert "test digit 3" in app.get_by_key("training_probe").options
    assert len(app.get("vega_lite_chart")) == 5  # the film; formation and curves of both
    assert "Both encoders are shown at the same training step." in text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("written", "moment"), [("99", 3), ("-1", 3), ("soon", 3), ("", 3), ("0", 0)])
def test_without_a_moment_that_there_is_the_trained_encoder_is_shown(open_app, written, moment):
    app = open_app(PAGE, kind="Digit", moment=written)
    assert player(app)["moment"] == moment


def test_runs_of_other_lengths_are_shown_at_the_same_share(open_app, checkpoints):
    path = checkpoints / "mnist-pre-ln" / "film.safetensors.gz"
    film = load(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(save({name: array[[0, 2, 3]] for name, array in film.items()})))
    app = open_app(PAGE, input_controls.KIND.to("Digit"))
    assert player(app)["texts"][-1] == (
        "mnist-pre-ln: step 3 of 4, phase: gently changed digits, accuracy 50.0\u2009%; "
        "mnist-post-ln: step 4 of 5, phase: gently changed digits, accuracy 50.0\u2009%"
    )
    assert "both are shown at the same share of their recorded moments" in text(app)


def test_the_address_follows_what_the_browser_stops_at(open_app):
    app = open_app(PAGE, input_controls.KIND.to("Digit"))
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
def test_a_message_that_means_nothing_here_changes_nothing(open_app, message):
    app = open_app(PAGE, input_controls.KIND.to("Digit"), training_controls.MOMENT.to("1"))
    if isinstance(message, dict) and message.get("moment") != 3:
        message |= {"stamp": player(app)["stamp"]}
    assert player(send(app, message))["moment"] == 1


def test_another_input_is_another_film(open_app):
    app = open_app(PAGE, input_controls.KIND.to("Digit"))
    before = player(app)["stamp"]
    assert player(app.get_by_key("training_probe").select("test digit 18").run())["stamp"] != before
    assert player(app.get_by_key("scale").set_value("to own maximum").run())["stamp"] != before


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("curves", ["accuracy", "entropy of the heads", "residual norms", "gradient norms"])
def test_every_curve(open_app, curves):
    app = open_app(PAGE, KIND.to("Digit"), training_curves=curves)
    assert ("after clipping the whole gradient" in text(app)) == (curves == "gradient norms")


def test_an_accuracy_that_was_not_measured_is_not_drawn_as_one(open_app, checkpoints):
    path = checkpoints / "mnist-pre-ln" / "film.safetensors.gz"
    film = load(gzip.decompress(path.read_bytes()))
    film["accuracy"][1:3] = torch.nan
    path.write_bytes(gzip.compress(save(film)))
    app = open_app(PAGE, input_controls.KIND.to("Digit"))
    assert player(app)["texts"][1] == (
        "step 1 of 5, phase: digits, accuracy mnist-pre-ln not measured, mnist-post-ln 50.0\u2009%"
    )
    assert "Where a line has a gap, accuracy was not measured." in text(app)


def test_heads_are_held_against_the_last_recording_and_not_the_stored_weights(open_app):
    app = open_app(PAGE, input_controls.KIND.to("Digit"))
    (help,) = (part.help for part in app.markdown if "When did each head form?" in part.value)
    assert "less than half as far from the last recorded one as the first recorded one was" in help
    assert "made just before the last training step" in help


def test_without_a_film_the_page_says_so(open_app):
    assert "There is no recording of imdb-pre-ln and imdb-post-ln." in text(open_app(PAGE))


def test_a_damaged_film_gives_one_sentence(open_app, checkpoints):
    (checkpoints / "mnist-pre-ln" / "film.safetensors.gz").write_bytes(b"x")
    app = open_app(PAGE, input_controls.KIND.to("Digit"))
    assert not app.exception
    assert [info.value for info in app.info if "cannot be shown" in info.value]


def test_histories_are_drawn_for_both(open_app):
    app = open_app(
        PAGE,
        input_controls.KIND.to("Digit"),
        training_controls.PART.to("Training history"),
        training_controls.LOG_STEPS.to(True),
    )
    assert "**mnist-post-ln** 99.51 ± 0.07\u2009% of 10,000 MNIST test digits" in text(app)
    assert text(app).count("Tasks: 1 digits · 2 gently changed digits") == 1  # of both
    assert len(app.get("vega_lite_chart")) == 4


def test_a_curve_that_is_the_same_in_both_runs_is_drawn_once(open_app, checkpoints, monkeypatch):
    path = checkpoints / "mnist-post-ln" / "history.json"
    history = json.loads(path.read_text())
    history["log"][0]["loss"] += 1
    path.write_text(json.dumps(history))
    drawn = {}
    monkeypatch.setattr(page, "run_curves", lambda _, *, y_title, runs, **__: drawn.setdefault(y_title, runs))
    monkeypatch.setattr(page, "show", lambda chart, **_: chart())
    app = open_app(PAGE, input_controls.KIND.to("Digit"), training_controls.PART.to("Training history"))
    assert not app.exception
    assert [*drawn["learning rate"]] == ["both"]
    assert [*drawn["training loss in nats"]] == ["mnist-pre-ln", "mnist-post-ln"]


@pytest.mark.slow
def test_of_a_long_run_no_more_is_drawn_than_can_be_seen(open_app, checkpoints, monkeypatch):
    n = 9 * MOST
    rows = [{"phase": 0, "step": step, "n": 10, **dict.fromkeys(VALUES, 0.5)} for step in range(n)]
    history = {"recipe": {"phases": [{"task": "unchanged digits"}]}, "log": rows, "evaluations": rows}
    checkpoint.save(checkpoints / "long", tiny.loaded(tiny.DIGIT).model, history)
    drawn = {}
    monkeypatch.setattr(page, "run_curves", lambda table, *, title, **_: drawn.setdefault(title, table))
    monkeypatch.setattr(page, "show", lambda chart, **_: chart())
    assert not open_app(
        PAGE,
        input_controls.KIND.to("Digit"),
        training_controls.PART.to("Training history"),
        input_controls.CHECKPOINT.to("long"),
    ).exception
    assert [len(table) for table in drawn.values()] == [MOST] * 4
    assert list(drawn) == [
        "training loss in nats, mean of 9 logged batches",
        "accuracy on training digits, 1 entry in 9 drawn",
        "learning rate, 1 entry in 9 drawn",
        "gradient norm, before clipping, mean of 9 logged batches",
    ]


def test_tasks_are_explained_and_bands_only_where_there_are_any(open_app, checkpoints):
    plain, history = tiny.loaded(tiny.DIGIT), {"recipe": {"phases": [{"task": "unchanged digits"}]}}
    checkpoint.save(checkpoints / "one-phase", plain.model, history)
    both = open_app(PAGE, input_controls.KIND.to("Digit"), training_controls.PART.to("Training history"))
    assert [expander.label for expander in both.expander] == ["What the tasks are"]
    assert "**gently changed digits**" in text(both)
    assert "A band is a task" in text(both)
    alone = open_app(
        PAGE,
        input_controls.KIND.to("Digit"),
        training_controls.PART.to("Training history"),
        input_controls.CHECKPOINT.to("one-phase"),
    )
    assert not alone.exception
    assert "A band is a task" not in text(alone)


def test_the_page_needs_no_input(open_app):
    app = open_app(PAGE, input_controls.TEXT.to(""), training_controls.PART.to("Training history"))
    assert not app.text_area
    assert "**imdb-pre-ln**" in text(app)


def test_a_phase_that_goes_on_with_another_schedule_is_not_told_as_another_task():
    assert task_names_text(("masked tokens", "masked tokens", "sentiment")) == (
        "1 hidden words · 2 whole reviews"
    )
    assert task_names_text(()) == ""


def test_an_accuracy_on_the_way_says_of_how_many_examples_it_is(open_app, checkpoints):
    path = checkpoints / "mnist-post-ln" / "history.json"
    history = json.loads(path.read_text())
    del history["evaluations"][1]["n"]
    path.write_text(json.dumps(history))
    app = open_app(PAGE, input_controls.KIND.to("Digit"), training_controls.PART.to("Training history"))
    assert not app.exception


def test_a_film_is_judged_on_as_many_as_the_tasks_glance_at():
    glances = {"digits": Digits, "sentiment": Sentiment, "true labels": TrueLabels, "sentences": CombinedTask}
    assert {task: GLANCES[task][0] for task in glances} == {
        task: kind.n_glance for task, kind in glances.items()
    }
    assert set(TASKS) - set(GLANCES) == {"masked tokens", "masked tokens, short windows"}
