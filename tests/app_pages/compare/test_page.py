import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.compare import pairing
from app_pages.controls.address import Control
from app_pages.show import all_heads, changed_head
from app_pages.subject import encoders
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.capture import capture
from model.checkpoint import load
from model.config import ModelConfig
from model.experiments.query_attention import cross_pattern
from model.inputs import Text
from model.measures.head_matching import distance_matrix, match_heads
from model.measures.head_measures import entropy
from tests.app_pages.charts import shown, table, weights
from tests.app_pages.linked import charts, choose, linked, side_names
from tests.app_pages.shown_text import explanations, page_text
from tests.model import tiny
from tests.tolerance import rounding

TEXT = "not great film"
BY_NUMBER = {
    "checkpoint": "imdb-pre-ln",
    "compare_view": "difference",
    "compare_pairing": "of the same number",
}
PARTS = ("Heads", "Knock-out", "Stream", "Cross-attention", "Similarity")


def titles(app: AppTest) -> list[str]:
    assert not app.exception
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]


def descriptions(app: AppTest) -> list[str]:
    assert not app.exception
    return [json.loads(chart.proto.spec).get("description", "") for chart in app.get("vega_lite_chart")]


def assert_sides(app: AppTest, *names: str) -> None:
    actual = side_names(app)
    assert len(actual) == len(names)
    assert all(title.startswith(name) for title, name in zip(actual, names, strict=True)), actual


def matched(text: str = TEXT, first: str = "imdb-pre-ln", second: str = "imdb-post-ln") -> np.ndarray:
    return match_heads(distance_matrix(*(LiveSubject(name, text).record.pattern for name in (first, second))))


def put(folder: Path, name: str, config: ModelConfig, seed: int = 5) -> None:
    loaded = tiny.loaded(config, seed)
    checkpoint.save(folder / name, loaded.model, {}, loaded.tokenizer)


# The sides


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "other"), [("mnist-pre-ln", "mnist-post-ln"), ("mnist-post-ln", "mnist-pre-ln")]
)
def test_a_checkpoint_is_first_set_beside_the_other_of_its_pair(open_compare, checkpoints, name, other):
    put(checkpoints, "a-digit-encoder", tiny.DIGIT)
    app = open_compare(kind="Digit", checkpoint=name)
    assert_sides(app, name, other)
    assert app.selectbox(key="compare_with").options == [other, "a-digit-encoder"]


def test_any_checkpoint_that_takes_the_input_can_be_the_other(open_compare, checkpoints):
    put(checkpoints, "mine", tiny.TEXT)
    app = open_compare(checkpoint="imdb-pre-ln", compare_with="mine")
    assert_sides(app, "imdb-pre-ln", "mine")


def test_the_other_follows_when_it_is_chosen_as_the_first(open_compare):
    app = open_compare(checkpoint="imdb-pre-ln")
    app.selectbox(key="checkpoint").set_value("imdb-post-ln").run()
    assert_sides(app, "imdb-post-ln", "imdb-pre-ln")


def test_without_another_checkpoint_two_inputs_remain(open_compare, checkpoints):
    (checkpoints / "imdb-pre-ln").rename(checkpoints.parent / "elsewhere")
    app = open_compare(checkpoint="imdb-post-ln")
    assert titles(app) == []
    assert app.info[0].value.startswith("No other encoder in the list reads a text")
    app.segmented_control(key="compare_what").set_value("two inputs").run()
    assert_sides(app, "first text", "second text")


def test_a_damaged_checkpoint_gives_one_sentence(open_compare, checkpoints):
    (checkpoints / "imdb-pre-ln" / "model.safetensors").write_bytes(b"{")
    app = open_compare(checkpoint="imdb-post-ln")
    assert titles(app) == []
    assert app.info[0].value.startswith("imdb-post-ln and imdb-pre-ln cannot be compared")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", PARTS)
def test_two_digits_on_one_checkpoint(open_compare, part):
    app = open_compare(kind="Digit", compare_what="two inputs", compare_digit="5", compare_part=part)
    if part == "Heads":
        assert_sides(app, "first digit", "second digit")
    else:
        assert [metric.label for metric in app.metric] == ["first digit", "second digit"]
    assert "compare_pairing" not in app.session_state
    assert not app.exception


def test_two_texts_of_one_length_line_up(open_compare):
    app = open_compare(
        compare_what="two inputs", text="not great", compare_text="not film", compare_view="difference"
    )
    (figure,) = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert figure["data"][0]["x"] == ["[CLS]", "not", "great|film", "[SEP]"]
    assert titles(app) == ["second text L0 H0 minus first text L0 H0"]


def test_two_texts_of_different_length_are_compared_where_they_can_be(open_compare):
    query = {"compare_what": "two inputs", "text": "not great", "compare_text": "film"}
    app = open_compare(compare_view="difference", **query)
    assert titles(app) == []
    assert "first text has 4 tokens, second text 3" in app.info[0].value
    assert any(message.startswith("change of entropy") for message in descriptions(app))
    assert not any(message.startswith("head distance") for message in descriptions(app))
    assert not app.get("button") or all(button.key != "most_different" for button in app.button)
    app = open_compare(query="3 [SEP]", **query)
    assert "no counterpart here" in page_text(app)


def test_an_empty_second_text_is_asked_for(open_compare):
    app = open_compare(compare_what="two inputs", compare_text=" ")
    assert app.info[0].value.startswith("Type a second text")


def test_what_a_second_text_is_too_long_for_is_said(open_compare):
    app = open_compare(compare_what="two inputs", text="not", compare_text="great " * 15)
    assert (
        "second text is too long for the encoder, which leaves out the last 5 tokens: its tokenizer keeps the beginning."
        in page_text(app)
    )


def test_nonsense_in_the_address_falls_back(open_compare):
    nonsense = {f"compare_{key}": "x" for key in ("what", "with", "part", "pairing", "view")}
    app = open_compare(**nonsense, forgiven=nonsense)
    assert_sides(app, "imdb-pre-ln", "imdb-post-ln")
    two = {"kind": "Digit", "compare_what": "two inputs"}
    assert not open_compare(**two, compare_digit="x", forgiven=["compare_digit"]).exception


@pytest.mark.slow
def test_without_classes_two_inputs_have_a_cosine_similarity(open_compare, checkpoints):
    put(checkpoints, "headless", replace(tiny.TEXT, class_names=()))
    app = open_compare(checkpoint="headless", compare_what="two inputs", text="film", compare_text="not film")
    assert not app.metric
    (message,) = (block.proto.body for block in app.get("html") if "Cosine similarity" in block.proto.body)
    one, other = (capture(load(checkpoints / "headless"), text).pooled for text in ("film", "not film"))
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert f"Cosine similarity of the two embeddings: {cosine:.3f}" in message
    app = open_compare(checkpoint="headless", compare_with="imdb-pre-ln")
    assert side_names(app)[0] == "headless"  # it has no answer to tell
    assert side_names(app)[1].startswith("imdb-pre-ln ")
    put(checkpoints, "another", replace(tiny.TEXT, class_names=()), seed=6)
    app = open_compare(checkpoint="headless", compare_with="another")
    assert "Neither encoder has classes" in page_text(app)


def test_cross_attention_stands_there_with_two_inputs_only(open_compare):
    app = open_compare(compare_part="Cross-attention", forgiven=["compare_part"])
    assert "Cross-attention" not in app.segmented_control(key="compare_part").options
    assert_sides(app, "imdb-pre-ln", "imdb-post-ln")
    two = {"compare_what": "two inputs", "text": TEXT, "compare_text": "great plot"}
    app = open_compare(compare_part="Cross-attention", layer="1", **two)
    assert app.segmented_control(key="compare_part").value == "Cross-attention"
    queries, keys = (LiveSubject("imdb-pre-ln", Text(text)).record for text in (TEXT, "great plot"))
    np.testing.assert_allclose(weights(shown(app, "cross")), cross_pattern(queries, keys, 1, 0), atol=1e-6)


# Pairs of heads


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("head", [0, 1])
def test_a_matched_head_stands_beside_its_partner(open_compare, head):
    app = open_compare(
        text=TEXT, checkpoint="imdb-pre-ln", layer="1", head=str(head), compare_view="all heads"
    )
    other = "L{} H{}".format(*divmod(int(matched()[2 + head]), 2))
    assert [linked(app, key).name for key in charts(app)] == [f"L1 H{head}", other]
    partners = linked(app, "heads_first").data["partners"]
    assert "L{} H{}".format(*partners[2 + head]) == other
    assert f"**L1 H{head}** ↔ **{other}**" in page_text(app)
    assert "smallest sum of distances on this input" in explanations(app)
    assert not app.warning
    _, old_head, _ = linked(app, "heads_second").kept
    choose(app, "heads_second", head=1 - old_head)  # the choice on the other side is kept as one of the first
    assert linked(app, "heads_second").kept[1] == 1 - old_head


def test_heads_of_one_number_come_with_a_warning(open_compare):
    app = open_compare(
        text=TEXT,
        checkpoint="imdb-pre-ln",
        layer="1",
        compare_pairing="of the same number",
        compare_view="all heads",
    )
    assert [linked(app, key).name for key in charts(app)] == ["L1 H0", "L1 H0"]
    assert app.warning[0].value.startswith("Paired by number")


def test_the_way_to_the_pair_that_differs_most(open_compare):
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln")
    app.button(key="most_different").click().run()
    distances = distance_matrix(
        *(LiveSubject(f"imdb-{end}-ln", TEXT).record.pattern for end in ("pre", "post"))
    )
    furthest = int(distances[np.arange(4), matched()].argmax())
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == divmod(furthest, 2)
    distance = distances[furthest, matched()[furthest]]
    assert f"{distance:.3f} apart (max 0.69)" in page_text(app)
    assert "Further apart: 0 of 4 pairs" in explanations(app)


def test_the_matrix_of_distances(open_compare):
    description = descriptions(open_compare(text=TEXT, compare_view="distances of all heads"))
    assert "Distances of the 4 heads of imdb-pre-ln from the 4 of imdb-post-ln" in description


def test_heads_beyond_those_of_the_other_stay_alone(open_compare, checkpoints):
    put(checkpoints, "imdb-pre-ln", replace(tiny.TEXT, n_layers=3))
    app = open_compare(checkpoint="imdb-post-ln")
    assert "Without a partner in imdb-pre-ln: L" in page_text(app)
    app = open_compare(checkpoint="imdb-pre-ln", compare_pairing="of the same number", layer="2")
    assert "**L2 H0** has no partner in imdb-post-ln" in page_text(app)
    assert app.info[0].value == "imdb-post-ln has no partner for L2 H0."
    app = open_compare(
        checkpoint="imdb-pre-ln", compare_pairing="of the same number", layer="2", compare_view="difference"
    )
    assert titles(app) == []


@pytest.mark.slow
def test_other_patches_are_not_matched_nor_subtracted(open_compare, checkpoints):
    put(checkpoints, "fine", replace(tiny.DIGIT, patch_size=2, n_positions=17))
    query = {"kind": "Digit", "checkpoint": "mnist-pre-ln", "compare_with": "fine"}
    app = open_compare(compare_view="difference", **query)
    assert titles(app) == []
    assert "2 × 2 patches and a class token, fine sees 4 × 4 patches" in app.info[0].value
    assert app.warning[0].value.endswith("these sides have none in common.")
    assert not any("mean distance" in message for message in descriptions(app))
    for part in ("Heads", "Knock-out", "Stream"):
        assert not open_compare(compare_part=part, **query).exception
    assert not open_compare(compare_part="Stream", compare_stream="representations", **query).exception
    app = open_compare(query="r1c0", **query)
    assert "no counterpart here" in page_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("what", ["two encoders", "two inputs"])
def test_of_long_inputs_head_distances_are_not_measured(open_compare, monkeypatch, what):
    monkeypatch.setattr(pairing, "MOST_WEIGHTS", 1)
    query = {"text": "not great", "compare_what": what, "checkpoint": "imdb-pre-ln"}
    if what == "two inputs":
        query["compare_text"] = "not film"
    app = open_compare(compare_view="distances of all heads", **query)
    assert any("weights each would take minutes" in info.value for info in app.info)
    assert len(app.warning) == (what == "two encoders")  # within one encoder a head has its own number
    for view in ("all heads", "difference"):
        assert not open_compare(compare_view=view, **query).exception


# The way to a digit that the two call differently


def test_the_button_goes_through_the_digits_called_differently(open_compare):
    first, second = (encoders.predictions(f"mnist-{end}-ln")["predicted"] for end in ("post", "pre"))
    app = open_compare(kind="Digit")
    seen = set()
    for _ in range(3):
        app.button(key="next_disagreement").click().run()
        digit = app.number_input(key="digit").value
        assert first[digit] != second[digit]
        seen.add(digit)
    assert len(seen) == 3
    assert app.button(key="next_disagreement").help.startswith(f"{(first != second).sum():,} test digits")


def test_without_predictions_written_down_there_is_no_such_button(open_compare, checkpoints):
    (checkpoints / "mnist-pre-ln" / "predictions.safetensors").unlink()
    app = open_compare(kind="Digit")
    assert all(button.key != "next_disagreement" for button in app.button)


def test_a_click_on_any_table_chooses_the_pair(open_compare, monkeypatch):
    clicks, taken = {}, {}
    monkeypatch.setattr(all_heads, "clickable", lambda _, key, take, **__: clicks.update({key: take}))
    assert not open_compare(text=TEXT, **BY_NUMBER).exception
    assert list(clicks) == ["grid_distance", "grid_entropy", "grid_mean_distance"]
    monkeypatch.setattr(Control, "take", lambda control, value: taken.update({control.key: value}))
    for take in clicks.values():
        taken.clear()
        take({"layer": 1.0, "head": 0.0})
        assert taken == {"layer": 1, "head": 0}


def test_the_change_is_that_of_the_second_minus_the_first(open_compare):
    app = open_compare(text=TEXT, **BY_NUMBER)
    first, second = (LiveSubject(f"imdb-{end}-ln", TEXT).record for end in ("pre", "post"))
    means = [entropy(record.pattern, record.mask).mean(axis=-1) for record in (first, second)]
    changes = table(app, "change of entropy", "layer", "head", "value").sort_values(["layer", "head"])
    np.testing.assert_allclose(changes["value"], (means[1] - means[0]).ravel(), atol=rounding(8 * 5))


def test_of_many_positions_the_first_are_drawn(open_compare, monkeypatch):
    monkeypatch.setattr(changed_head, "MOST_DRAWN", 4)
    monkeypatch.setattr(changed_head, "DRAWN", 2)
    app = open_compare(text=TEXT, **BY_NUMBER)
    assert weights(shown(app, "difference")).shape == (2, 2)
    assert "Of 5 positions, 0 to 1 are drawn." in [caption.value for caption in app.caption]
