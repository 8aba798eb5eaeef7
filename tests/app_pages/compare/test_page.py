import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages import state
from model import checkpoint
from model.config import ModelConfig
from model.inputs import Picture
from model.intervention import without_keys
from model.measures.matching import distance_matrix, matching
from model.probabilities import probabilities
from tests.model import tiny

Open = Callable[..., AppTest]

PAGE = "app_pages/compare/page.py"
TEXT = "not great film"
PARTS = ("Heads", "Difference", "Knock-out", "Stream", "Representations")


@pytest.fixture
def open_compare(open_app: Open) -> Open:
    return lambda **query: open_app(PAGE, **query)


def titles(app: AppTest) -> list[str]:
    assert not app.exception
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in app.get("plotly_chart")]


def descriptions(app: AppTest) -> list[str]:
    assert not app.exception
    return [json.loads(chart.proto.spec).get("description", "") for chart in app.get("vega_lite_chart")]


def captions(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(caption.value for caption in app.caption)


def words(app: AppTest) -> str:
    assert not app.exception
    return "\n".join(block.value for block in app.markdown)


def matched(text: str = TEXT, first: str = "imdb-pre-ln", second: str = "imdb-post-ln") -> np.ndarray:
    return matching(distance_matrix(*(state.record(name, text).pattern for name in (first, second))))


def put(folder: Path, name: str, config: ModelConfig, seed: int = 5) -> None:
    loaded = tiny.loaded(config, seed)
    checkpoint.save(folder / name, loaded.model, {}, loaded.tokenizer)


# The sides


@pytest.mark.parametrize(
    ("name", "other"), [("mnist-pre-ln", "mnist-post-ln"), ("mnist-post-ln", "mnist-pre-ln")]
)
def test_a_checkpoint_is_first_set_beside_the_other_of_its_pair(
    open_compare: Open, checkpoints: Path, name: str, other: str
) -> None:
    put(checkpoints, "a-digit-encoder", tiny.DIGIT)
    app = open_compare(kind="Digit", checkpoint=name)
    assert [metric.label for metric in app.metric] == [name, other]
    assert app.selectbox(key="compare_with").options == [other, "a-digit-encoder"]


def test_any_checkpoint_that_takes_the_input_can_be_the_other(open_compare: Open, checkpoints: Path) -> None:
    put(checkpoints, "mine", tiny.TEXT)
    app = open_compare(checkpoint="imdb-pre-ln", compare_with="mine")
    assert [metric.label for metric in app.metric] == ["imdb-pre-ln", "mine"]


def test_the_other_follows_when_it_is_chosen_as_the_first(open_compare: Open) -> None:
    app = open_compare(checkpoint="imdb-pre-ln")
    app.selectbox(key="checkpoint").set_value("imdb-post-ln").run()
    assert [metric.label for metric in app.metric] == ["imdb-post-ln", "imdb-pre-ln"]


def test_without_another_checkpoint_two_inputs_remain(open_compare: Open, checkpoints: Path) -> None:
    (checkpoints / "imdb-pre-ln").rename(checkpoints.parent / "elsewhere")
    app = open_compare(checkpoint="imdb-post-ln")
    assert titles(app) == []
    assert app.info[0].value.startswith("No other checkpoint takes a text")
    app.segmented_control(key="compare_what").set_value("two inputs").run()
    assert [metric.label for metric in app.metric] == ["first text", "second text"]


def test_a_damaged_checkpoint_gives_one_sentence(open_compare: Open, checkpoints: Path) -> None:
    (checkpoints / "imdb-pre-ln" / "model.safetensors").write_bytes(b"{")
    app = open_compare(checkpoint="imdb-post-ln")
    assert titles(app) == []
    assert app.info[0].value.startswith("imdb-post-ln and imdb-pre-ln cannot be compared")


@pytest.mark.parametrize("part", PARTS)
def test_two_digits_on_one_checkpoint(open_compare: Open, part: str) -> None:
    app = open_compare(kind="Digit", compare_what="two inputs", compare_digit="5", compare_part=part)
    assert [metric.label for metric in app.metric] == ["first digit", "second digit"]
    assert "compare_pairing" not in app.session_state
    assert not app.exception


def test_two_texts_of_one_length_line_up(open_compare: Open) -> None:
    app = open_compare(
        compare_what="two inputs", text="not great", compare_text="not film", compare_part="Difference"
    )
    (figure,) = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert figure["data"][0]["x"] == ["[CLS]", "not", "great|film", "[SEP]"]
    assert titles(app) == ["second text L0 H0 minus first text L0 H0"]


def test_two_texts_of_different_length_are_compared_where_they_can_be(open_compare: Open) -> None:
    query = {"compare_what": "two inputs", "text": "not great", "compare_text": "film"}
    app = open_compare(compare_part="Difference", **query)
    assert titles(app) == []
    assert "first text has 4 tokens, second text 3" in app.info[0].value
    assert any(said.startswith("change of entropy") for said in descriptions(app))
    assert not any(said.startswith("head distance") for said in descriptions(app))
    assert not app.get("button") or all(button.key != "most_different" for button in app.button)
    app = open_compare(query="3 [SEP]", **query)
    assert "no counterpart here" in captions(app)


def test_an_empty_second_text_is_asked_for(open_compare: Open) -> None:
    app = open_compare(compare_what="two inputs", compare_text=" ")
    assert app.info[0].value.startswith("Type a second text")


def test_what_a_second_text_is_too_long_for_is_said(open_compare: Open) -> None:
    app = open_compare(compare_what="two inputs", text="not", compare_text="great " * 15)
    assert "second text is longer than the encoder reads: it leaves out the last 5 tokens." in captions(app)


def test_nonsense_in_the_address_falls_back(open_compare: Open) -> None:
    app = open_compare(
        compare_what="x", compare_with="y", compare_part="z", compare_pairing="w", compare_view="v"
    )
    assert [metric.label for metric in app.metric] == ["imdb-pre-ln", "imdb-post-ln"]
    assert not app.exception
    assert not open_compare(kind="Digit", compare_what="two inputs", compare_digit="x").exception


# Pairs of heads


@pytest.mark.parametrize("head", [0, 1])
def test_a_matched_head_stands_beside_its_partner(open_compare: Open, head: int) -> None:
    app = open_compare(
        text=TEXT, checkpoint="imdb-pre-ln", layer="1", head=str(head), compare_view="all weights"
    )
    other = "L{} H{}".format(*divmod(int(matched()[2 + head]), 2))
    assert titles(app) == [f"imdb-pre-ln L1 H{head}", f"imdb-post-ln {other}"]
    assert f"**L1 H{head}** of imdb-pre-ln ↔ **{other}** of imdb-post-ln" in words(app)
    assert "are a matching" in captions(app)
    assert not app.warning


def test_heads_of_one_number_come_with_a_warning(open_compare: Open) -> None:
    app = open_compare(
        text=TEXT,
        checkpoint="imdb-pre-ln",
        layer="1",
        compare_pairing="by number",
        compare_view="all weights",
    )
    assert titles(app) == ["imdb-pre-ln L1 H0", "imdb-post-ln L1 H0"]
    assert app.warning[0].value.startswith("Paired by number")


def test_the_way_to_the_pair_that_differs_most(open_compare: Open) -> None:
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln")
    app.button(key="most_different").click().run()
    distances = distance_matrix(*(state.record(f"imdb-{end}-ln", TEXT).pattern for end in ("pre", "post")))
    furthest = int(distances[np.arange(4), matched()].argmax())
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == divmod(furthest, 2)
    assert f"Head distance {distances[furthest, matched()[furthest]]:.3f} nats" in captions(app)
    assert "none of 4 pairs is further apart" in captions(app)


def test_the_matrix_of_distances(open_compare: Open) -> None:
    said = descriptions(open_compare(text=TEXT, compare_view="distances of all heads"))
    assert "Distances of the 4 heads of imdb-pre-ln from the 4 of imdb-post-ln" in said


def test_the_difference_says_which_way_it_goes(open_compare: Open) -> None:
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", compare_part="Difference")
    other = "L{} H{}".format(*divmod(int(matched()[0]), 2))
    assert titles(app) == [f"imdb-post-ln {other} minus imdb-pre-ln L0 H0"]


def test_heads_beyond_those_of_the_other_stay_alone(open_compare: Open, checkpoints: Path) -> None:
    put(checkpoints, "imdb-pre-ln", replace(tiny.TEXT, n_layers=3))
    app = open_compare(checkpoint="imdb-post-ln")
    assert "Without a partner in imdb-pre-ln: L" in captions(app)
    app = open_compare(checkpoint="imdb-pre-ln", compare_pairing="by number", layer="2")
    assert "**L2 H0** of imdb-pre-ln has no partner in imdb-post-ln" in words(app)
    assert app.info[0].value == "imdb-post-ln has no partner for L2 H0."
    app = open_compare(
        checkpoint="imdb-pre-ln", compare_pairing="by number", layer="2", compare_part="Difference"
    )
    assert titles(app) == []


def test_other_patches_are_not_matched_nor_subtracted(open_compare: Open, checkpoints: Path) -> None:
    put(checkpoints, "fine", replace(tiny.DIGIT, patch_size=2, n_positions=17))
    query = {"kind": "Digit", "checkpoint": "mnist-pre-ln", "compare_with": "fine"}
    app = open_compare(compare_part="Difference", **query)
    assert titles(app) == []
    assert "2 × 2 patches and a class token, fine sees 4 × 4 patches" in app.info[0].value
    assert app.warning[0].value.startswith("Paired by number, since a matching needs the same keys")
    assert not any("mean distance" in said for said in descriptions(app))
    for part in ("Heads", "Knock-out", "Stream", "Representations"):
        assert not open_compare(compare_part=part, query="r1c0", **query).exception
    app = open_compare(query="r1c0", **query)
    assert "no counterpart here" in captions(app)


# Knock-out


def test_the_knock_out_is_said_in_numbers(open_compare: Open) -> None:
    app = open_compare(text=TEXT, checkpoint="imdb-pre-ln", compare_part="Knock-out")
    record = state.record("imdb-pre-ln", TEXT)
    said = int(record.logits.argmax())
    changes = [without_keys(position) for position in range(5)]
    without = probabilities(state.loaded("imdb-pre-ln"), [TEXT], changes)[0, :, said]
    before = record.probabilities[said]
    strongest = int(np.abs(without - before).argmax())
    line = next(block.value for block in app.markdown if block.value.startswith("**imdb-pre-ln**: P("))
    assert (
        f"P({record.class_names[said]}) is {100 * before:.2f}\u2009%; without `{record.tokens[strongest]}`"
        in line
    )
    assert f"it is {100 * without[strongest]:.2f}\u2009%, the largest change" in line
    assert "masked out of the keys" in words(app)


def test_a_token_of_markup_stays_a_token(open_compare: Open) -> None:
    assert "```" not in words(open_compare(text="` ` `", compare_part="Knock-out"))


def test_of_two_answers_one_is_followed(open_compare: Open) -> None:
    images, _ = state.test_digits()
    names = ("mnist-pre-ln", "mnist-post-ln")
    digit = next(
        number
        for number in range(50)
        if len({int(state.record(name, Picture.of(images[number])).logits.argmax()) for name in names}) == 2
    )
    query = {"kind": "Digit", "checkpoint": names[0], "digit": str(digit), "compare_part": "Knock-out"}
    said = [str(state.record(name, Picture.of(images[digit])).logits.argmax()) for name in names]
    assert f"P({said[0]}) is" in words(open_compare(**query))
    assert f"P({said[1]}) is" in words(open_compare(compare_class="what the second says", **query))


def test_a_class_that_one_side_does_not_know(open_compare: Open, checkpoints: Path) -> None:
    put(checkpoints, "stars", replace(tiny.TEXT, class_names=("one", "two", "three")))
    app = open_compare(checkpoint="imdb-pre-ln", compare_with="stars", compare_part="Knock-out")
    assert not app.exception
    assert app.info[0].value.startswith("stars knows no class ")


# The stream


@pytest.mark.parametrize("kind", ["Text", "Digit"])
@pytest.mark.parametrize(
    ("shown", "begins"),
    [
        ("norms", "mean length of the states, over 5 stages"),
        ("shares", "share of the sublayer, over 4 stages"),
        ("logits by layer", "{}-pre-ln: logits of"),
        ("token uniformity", "relative distance from the mean state, over 5 stages"),
        ("cosines", "mean cosine of 5 stages"),
    ],
)
def test_the_stream_of_both(open_compare: Open, kind: str, shown: str, begins: str) -> None:
    app = open_compare(kind=kind, compare_part="Stream", compare_stream=shown)
    begins = begins.format({"Text": "imdb", "Digit": "mnist"}[kind])
    assert any(said.startswith(begins) for said in descriptions(app))


def test_the_last_logits_are_checked(open_compare: Open) -> None:
    said = captions(open_compare(compare_part="Stream", compare_stream="logits by layer"))
    assert "Checked: no final norm, the last stage gives the true logits" in said
    assert "Checked: through the final norm, the last stage gives the true logits" in said


def test_one_answer_of_both_sides_is_said_once(open_compare: Open) -> None:
    query = {"checkpoint": "imdb-pre-ln", "compare_part": "Stream", "compare_stream": "logits by layer"}
    said = captions(open_compare(compare_what="two inputs", text=TEXT, compare_text=TEXT, **query))
    record = state.record("imdb-pre-ln", TEXT)
    assert f"Both say **{record.class_names[record.logits.argmax()]}**" in said


def test_the_stream_of_encoders_of_other_depth(open_compare: Open, checkpoints: Path) -> None:
    put(checkpoints, "imdb-pre-ln", replace(tiny.TEXT, n_layers=3))
    for shown in ("norms", "shares", "logits by layer", "token uniformity", "cosines"):
        assert not open_compare(compare_part="Stream", compare_stream=shown).exception


# Representations


def test_the_representations_say_what_was_used(open_compare: Open) -> None:
    app = open_compare(kind="Digit", compare_part="Representations")
    assert "CKA of 5 stages of mnist-pre-ln and 5 of mnist-post-ln" in descriptions(app)
    assert "the first 300 test digits, the class token of each" in captions(app)
    assert "A dash: all examples have the same state" in captions(app)  # the class token before any layer
    app = open_compare(text=TEXT, compare_part="Representations")
    assert "CKA of 5 stages of imdb-pre-ln and 5 of imdb-post-ln" in descriptions(app)
    assert "tokens of the 14 example sentences and of what was typed" in captions(app)
    assert "A dash" not in captions(app)


def test_texts_cut_differently_have_no_states_in_common(open_compare: Open, checkpoints: Path) -> None:
    put(checkpoints, "short", replace(tiny.TEXT, n_positions=6))
    app = open_compare(checkpoint="imdb-pre-ln", compare_with="short", compare_part="Representations")
    assert not app.exception
    assert "cut texts into different tokens" in app.info[0].value


# The way to a digit that the two call differently


def test_the_button_goes_through_the_digits_called_differently(open_compare: Open) -> None:
    first, second = (state.predictions(f"mnist-{end}-ln")["predicted"] for end in ("post", "pre"))
    app = open_compare(kind="Digit")
    seen = set()
    for _ in range(3):
        app.button(key="next_disagreement").click().run()
        digit = app.number_input(key="digit").value
        assert first[digit] != second[digit]
        seen.add(digit)
    assert len(seen) == 3
    assert f"Next of {(first != second).sum()} test digits" in app.button(key="next_disagreement").label


def test_without_predictions_written_down_there_is_no_such_button(
    open_compare: Open, checkpoints: Path
) -> None:
    (checkpoints / "mnist-pre-ln" / "predictions.safetensors").unlink()
    app = open_compare(kind="Digit")
    assert all(button.key != "next_disagreement" for button in app.button)
