import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from app_pages.controls import estimated_work as module
from app_pages.show.faithfulness import words
from app_pages.show.faithfulness.words import OverData, stored_over_data
from app_pages.subject import cache
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.atlas.results import FAITHFULNESS, ResultTable, write_results
from model.capture import capture
from model.capture.intervention import without_keys
from model.experiments.faithfulness import head_scores
from model.experiments.knock_out import knock_out, log_odds_falls, removable_positions
from model.experiments.masked_word import masked_word
from model.inputs import Picture, Text
from tests.app_pages.charts import table
from tests.app_pages.inputs.test_record_input import opened, saved, show
from tests.app_pages.linked import linked
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny
from tests.model.atlas.invented_results import source
from tests.model.experiments.test_masked_word import log_p

TEXT = "not great film a b x"


def shown_texts(app: AppTest) -> list[str]:
    """The lines with the numbers, which stand above the details."""
    assert not app.exception
    return [block.value for block in app.markdown if "Rank correlation with" in block.value]


def conclusions(app: AppTest) -> list[str]:
    """The sentences that stand first behind "why", or behind the question mark of a side of a comparison."""
    assert not app.exception
    texts = [text for block in app.markdown for text in (block.value, block.proto.help)]
    return [text for text in texts if text.startswith(("Does this map show", "Whether this map"))]


def signs(app: AppTest) -> list[str]:
    """What stands at the map, always in sight."""
    assert not app.exception
    result = [re.fullmatch("<b>([a-z ]+)</b> <span>·</span>", block.proto.body) for block in app.get("html")]
    return [match[1] for match in result if match]


def expected(name: str, model_input: object, layer: int, head: int, kind: str = "keys") -> float:
    """Spearman, by a loop over the knock-outs where they are masks."""
    loaded = cache.loaded(name)
    record = capture(loaded, model_input)
    positions = list(removable_positions(record))
    if kind == "keys":
        answers = np.array(
            [capture(loaded, model_input, without_keys(one)).probabilities for one in positions]
        )
    else:
        answers = knock_out(loaded, model_input, kind, answer="logits")
    return stats.spearmanr(
        head_scores(record, layer, head)[positions], log_odds_falls(record, answers)
    ).statistic


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("head", [(0, 0), (1, 1)])
def test_the_sign_is_always_in_sight_and_its_figures_stand_behind_it(open_app, head):
    options = {"text": TEXT, "checkpoint": "imdb-pre-ln", "layer": str(head[0]), "head": str(head[1])}
    app = open_app(**options)
    (sign,) = signs(app)
    (conclusion,) = conclusions(app)
    assert (sign == "cannot be told") == ("cannot be told" in conclusion)
    assert not shown_texts(app)
    app = open_app(**options, faithful="true")
    (line,) = shown_texts(app)
    assert (signs(app), conclusions(app)) == ([sign], [conclusion])
    value = f"{expected('imdb-pre-ln', TEXT, *head):.2f}".replace("-", "−")
    assert f"hiding each token (from every query): **{value}** over 7 tokens." in line
    assert "If all heads attended evenly, the prediction shifts by" in line


def test_of_a_masked_word(open_app):
    """Spearman of the weights from [MASK] with the falls of log P, one forward pass after the other."""
    text = "not [MASK] film a b x"
    app = open_app(
        text=text,
        checkpoint="imdb-pre-ln",
        layer="1",
        head="1",
        answer_of="masked word",
        answer_word="great",
        faithful="true",
    )
    (line,) = shown_texts(app)
    loaded = cache.loaded("imdb-pre-ln")
    word, positions = masked_word(loaded, text, "great"), [1, 3, 4, 5, 6, 7]  # neither [CLS] nor [MASK]
    before = log_p(loaded, text, word)
    effects = [before - log_p(loaded, text, word, without_keys(position)) for position in positions]
    weights = capture(loaded, text).pattern[1, 1, 2, positions]
    value = f"{stats.spearmanr(weights, effects).statistic:.2f}".replace("-", "−")
    assert conclusions(app)[0].startswith("Does this map show what “great” at \\[MASK\\] hangs on?")
    assert f"(from every query): **{value}** over 6 tokens." in line
    assert "log P\\(“great” at \\[MASK\\]\\) changes by" in line
    hidden = linked(app).data["hidden"]
    np.testing.assert_allclose(np.array(hidden["effects"])[positions], effects, atol=1e-5)
    assert hidden["words"][2] == "falls without it by: not measured"
    points = table(app, "Score of a map", "score", "effect")
    np.testing.assert_allclose(points["effect"], effects, atol=1e-5)


def test_a_map_of_a_class_is_not_checked_by_a_masked_word(open_app):
    masked = {"text": "not [MASK] film", "checkpoint": "imdb-pre-ln", "answer_of": "masked word"}
    app = open_app(**masked, lens="gradient × attention")
    assert not conclusions(app)
    assert signs(app) == ["not checked"]
    assert any("choose “whole input” to check it" in block.value for block in app.markdown)


def test_of_a_digit(open_app):
    app = open_app(kind="Digit", digit="5", knock_out="greyed", faithful="true")
    (line,) = shown_texts(app)
    selection = subject_of(app)
    value = expected(selection.checkpoint, selection.model_input, 0, 0, "grey")
    assert f"(greyed): **{value:.2f}** over 4 patches".replace("-", "−") in line
    (conclusion,) = conclusions(app)
    assert "**cannot be told** from this input: fewer than 5 patches" in conclusion
    assert signs(app) == ["cannot be told"]


def test_other_kinds_of_knock_out(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", knock_out="behind [MASK]", faithful="true")
    (line,) = shown_texts(app)
    value = f"{expected('imdb-pre-ln', TEXT, 0, 0, 'mask'):.2f}".replace("-", "−")
    assert f"(behind [MASK]): **{value}** over 7 tokens" in line
    assert list(app.segmented_control(key="knock_out").options) == [
        "from every query",
        "behind [MASK]",
        "behind [UNK]",
    ]


def test_faithfulness_follows_from_the_drawn_points_alone(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-post-ln", faithful="true")
    (line,) = shown_texts(app)
    points = table(app, "Score of a map", "score", "effect")
    result = stats.spearmanr(points["score"], points["effect"]).statistic
    assert result == pytest.approx(expected("imdb-post-ln", TEXT, 0, 0))
    assert f"**{result:.2f}** over".replace("-", "−") in line


def test_details_have_points_and_curves(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", faithful="true", query="3 film")
    points = table(app, "Score of a map", "score", "effect")
    assert points["position"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert points["position"][points["selected"]].tolist() == [3]
    record = LiveSubject("imdb-pre-ln", TEXT).record
    what = f"fall of the log-odds of {record.class_names[record.logits.argmax()]}, nats"
    for kind in ("Deletion", "Insertion"):
        curve = table(app, f"{kind}: {what}", "share", "map")
        assert (curve["share"].iloc[0], curve["share"].iloc[-1]) == (0, 1)
    ends = table(app, "Deletion", "map")["map"].iloc[[0, -1]].tolist()
    assert ends == table(app, "Insertion", "map")["map"].iloc[[-1, 0]].tolist()
    assert ends[0] == 0
    text = " ".join(block.value for block in app.markdown)
    assert "Jain & Wallace 2019" in text
    assert "Wiegreffe & Pinter 2019" in text
    assert "at least 0.5, with p < 0.05" in text


def test_merged_words_leave_the_check_as_it_is(open_app):
    query = {"text": "films not great", "checkpoint": "imdb-pre-ln", "faithful": "true"}
    lines = shown_texts(open_app(**query))
    assert len(lines) == 1
    assert shown_texts(open_app(**query, words="true", hide_special="true")) == lines


def test_of_the_mean_of_a_layer(open_app):
    (line,) = shown_texts(open_app(text=TEXT, checkpoint="imdb-pre-ln", part="mean", faithful="true"))
    record = LiveSubject("imdb-pre-ln", TEXT).record
    positions = list(removable_positions(record))
    effect = log_odds_falls(record, knock_out(cache.loaded("imdb-pre-ln"), TEXT, answer="logits"))
    value = stats.spearmanr(record.pattern[0, :, 0].mean(axis=0)[positions], effect).statistic
    assert f"**{value:.2f}** over".replace("-", "−") in line


def test_without_classes(open_app, checkpoints):
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=(), pooling="mean"))
    checkpoint.save(checkpoints / "headless", loaded.model, {}, loaded.tokenizer)
    app = open_app(text=TEXT, checkpoint="headless", faithful="true")
    (line,) = shown_texts(app)
    assert "the pooled state turns by a cosine distance of" in line
    record = LiveSubject("headless", TEXT).record
    scores = record.pattern[0, 0].mean(axis=0)[1:]
    value = stats.spearmanr(
        scores, log_odds_falls(record, knock_out(loaded, TEXT, answer="logits"))
    ).statistic
    assert f"**{value:.2f}** over".replace("-", "−") in line


@pytest.mark.slow
def test_what_takes_long_stands_behind_a_button(open_app, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 0)
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", faithful="true")
    assert not shown_texts(app)
    button = app.button(key="faithfulness_check")
    assert button.label.startswith("Check this map by knocking out 7 tokens, about 1 s")
    button.click().run()
    assert shown_texts(app)
    curves = app.button(key="faithfulness_curves")
    assert not any("Deletion" in str(chart.proto.spec) for chart in app.get("vega_lite_chart"))
    curves.click().run()
    assert len(table(app, "Deletion", "map")) == 8
    # Another map: the knock-outs are the same, its curves are not.
    app.selectbox(key="layer").set_value(1).run()
    assert shown_texts(app)
    assert app.button(key="faithfulness_curves")
    app.selectbox(key="layer").set_value(0).run()
    assert len(table(app, "Deletion", "map")) == 8


def test_an_ended_run_leaves_the_button(open_app, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 0)
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln")

    def ended(*_: object, **__: object) -> None:
        raise RuntimeError("the run was ended")

    with monkeypatch.context() as broken:
        broken.setattr("app_pages.show.faithfulness.checked.knock_out_answers", ended)
        app.button(key="faithfulness_check").click().run()
        assert app.exception
    app.run()
    assert signs(app) == ["not checked"]
    assert app.button(key="faithfulness_check")


@pytest.mark.slow
def test_over_a_data_set_it_is_said_where_it_was_measured(open_app, checkpoints):
    folder = checkpoints / "imdb-pre-ln"
    columns = ("lens", "layer", "head", "spearman_mean", "spearman_sd", "share", "n")
    rows = pd.DataFrame(
        [("attention", 0, 0, 0.1, 0.2, 0.05, 256), ("attention", 1, 0, 0.1, 0.2, 0.12, 250)], columns=columns
    ).assign(told=140, too_few=100, unmoved=10, no_sooner=50)
    table_of = ResultTable(source=source(300, checkpoint.weights_hash("imdb-pre-ln")), rows=rows)
    write_results(folder / FAITHFULNESS, table_of)
    options = {"text": TEXT, "checkpoint": "imdb-pre-ln", "faithful": "true"}
    (line,) = shown_texts(open_app(**options, layer="1"))
    assert (
        "this can be told on 140 of 300 films, and on 12\u2009% of those this map explains the answer."
        in line
    )
    for other in ({"layer": "1", "head": "1"}, {"part": "mean"}, {"knock_out": "behind [MASK]"}):
        assert "films" not in shown_texts(open_app(**options, **other))[0]


def test_a_lens_without_heads_is_one_map_a_layer(checkpoints):
    rows = pd.DataFrame(
        {
            "lens": ["rollout"],
            "layer": [0],
            "head": [None],
            "spearman_mean": [0.1],
            "spearman_sd": [0.2],
            "share": [0.25],
            "n": [40],
            **{name: [12] for name in ("told", "too_few", "unmoved", "no_sooner")},
        }
    )
    table_of = ResultTable(source=source(300, checkpoint.weights_hash("imdb-pre-ln")), rows=rows)
    write_results(checkpoints / "imdb-pre-ln" / FAITHFULNESS, table_of)
    assert stored_over_data("imdb-pre-ln", "rollout", (0, 0)) == OverData(0.25, 12, 300, "films")
    assert stored_over_data("imdb-pre-ln", "rollout", (1, 0)) is None
    assert stored_over_data("imdb-pre-ln", "attention", (0, 0)) is None
    assert stored_over_data("imdb-post-ln", "rollout", (0, 0)) is None


def test_a_record_from_a_file_has_no_encoder_to_ask(open_app):
    app = show(open_app, opened(saved(Text(TEXT), "imdb-pre-ln")), faithful="true")
    assert not shown_texts(app)
    assert signs(app) == ["not checked"]
    assert words.NO_ENCODER in conclusions(app)


def test_each_side_of_a_comparison_has_its_line(open_app):
    app = open_app(
        "app_pages/compare/page.py", text=TEXT, checkpoint="imdb-pre-ln", compare_pairing="of the same number"
    )
    assert len(conclusions(app)) == 2
    result = [block.help for block in app.markdown if "Rank correlation with" in block.help]
    assert len(result) == 2
    value = f"{expected('imdb-pre-ln', TEXT, 0, 0):.2f}".replace("-", "−")
    assert f"(from every query): **{value}** over 7 tokens" in result[0]


def test_the_knock_outs_of_a_comparison_can_be_of_another_kind(open_app):
    options = {"kind": "Digit", "compare_part": "Knock-out", "knock_out": "greyed"}
    app = open_app("app_pages/compare/page.py", **options)
    assert not app.exception
    selection = subject_of(app)
    record = selection.record
    answers = knock_out(
        cache.loaded(selection.checkpoint), Picture.of(selection.model_input.array), "grey", answer="logits"
    )
    most = removable_positions(record)[int(np.abs(log_odds_falls(record, answers)).argmax())]
    line = next(
        block.value for block in app.markdown if block.value.startswith(f"**{selection.checkpoint}**")
    )
    assert f"without `{record.tokens[most]}` it is" in line
    assert "becomes the mean of the picture" in " ".join(block.value for block in app.caption)
