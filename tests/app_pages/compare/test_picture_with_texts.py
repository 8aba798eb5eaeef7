"""A picture and texts on Side by side, in made folders of CLIP and SigLIP with random weights."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from app_pages.controls import estimated_work
from app_pages.subject.shipped_inputs import example_picture
from model.checkpoint import load
from model.similarity.text_on_picture import TextOnPicture, text_on_picture
from tests.app_pages.charts import table
from tests.app_pages.shown_text import page_text
from tests.model.huggingface.folders import build
from tests.model.similarity.test_text_on_picture import build_with_scale

TEXTS = ("the film is not bad", "a long slow story", "me")
TOGETHER = {"kind": "Picture", "checkpoint": "own/vision_model", "compare_what": "a picture and texts"}
OWN = TOGETHER | {"compare_texts": "\n".join(TEXTS)}
COMPARED, PART = "compare_what", "compare_part"


@pytest.fixture(params=["CLIP", "Siglip"])
def kind(request: pytest.FixtureRequest, checkpoints: Path) -> str:
    build_with_scale(checkpoints / "own", request.param)
    return request.param


@pytest.fixture
def clip(checkpoints: Path) -> Path:
    build_with_scale(checkpoints / "own", "CLIP")
    return checkpoints / "own"


def message(app: AppTest) -> str:
    assert not app.exception
    assert not app.get("vega_lite_chart")
    (info,) = app.info
    return info.value.replace("\\", "")


def expected(folder: Path, texts: tuple[str, ...] = TEXTS) -> TextOnPicture:
    pictures, texts_encoder = load(folder / "vision_model"), load(folder / "text_model")
    return text_on_picture(pictures, texts_encoder, example_picture("cat"), texts)


def compared_options(app: AppTest) -> list[str]:
    assert not app.exception
    return app.segmented_control(key=COMPARED).options


@pytest.mark.rest_is_slow
def test_each_text_has_a_map_that_adds_up_to_its_logit(open_compare, checkpoints, kind):
    app = open_compare(**OWN)
    parts = expected(checkpoints / "own")
    for index, text in enumerate(TEXTS):
        spec_start = f"The picture over what each of 16 patches adds to the logit {parts.recorded[index]:.2f}"
        frame = table(app, spec_start.replace("-", "−"), "position", "share").sort_values("position")
        np.testing.assert_allclose(frame["share"], parts.maps[index], atol=1e-5, err_msg=text)
    words = page_text(app)
    if kind == "CLIP":
        assert "**20** × cosine similarity of picture and text: the model's own scale" in words
        assert "softmax over these 3 texts" in words
        assert "what heads read from the class token" in words
    else:
        assert (
            "**20** × cosine similarity of picture and text − **3**: the model's own scale and bias" in words
        )
        assert "Each text has a probability by itself" in words
        frame = table(app, "The picture over the attention of the pooling", "position", "weight")
        np.testing.assert_allclose(frame.sort_values("position")["weight"], parts.pooled_from, atol=1e-6)


def test_the_text_with_the_largest_logit_stands_first(open_compare, clip):
    app = open_compare(**OWN)
    logits = expected(clip).recorded
    titles = [json.loads(chart.proto.spec).get("title", {}) for chart in app.get("vega_lite_chart")]
    names = [title["text"][0] for title in titles if title.get("text") and title["text"][0] in TEXTS]
    assert names == [TEXTS[index] for index in np.argsort(-logits)]


@pytest.mark.slow
@pytest.mark.usefixtures("clip")
def test_it_is_offered_for_a_folder_of_two_encoders_alone(open_compare, checkpoints):
    build(checkpoints / "alone", "CLIPVisionModel")
    assert "a picture and texts" in compared_options(
        open_compare(kind="Picture", checkpoint="own/vision_model")
    )
    assert "a picture and texts" in compared_options(open_compare(kind="Text", checkpoint="own/text_model"))
    for options in ({"kind": "Picture", "checkpoint": "alone"}, {"checkpoint": "imdb-pre-ln"}):
        assert compared_options(open_compare(**options)) == ["two encoders", "two inputs"]


@pytest.mark.usefixtures("clip")
def test_from_the_encoder_of_texts_it_goes_to_that_of_pictures_and_back(open_compare):
    app = open_compare(kind="Text", checkpoint="own/text_model")
    app.segmented_control(key=COMPARED).set_value("a picture and texts").run()
    assert app.selectbox(key="checkpoint").value == "own/vision_model"
    assert app.segmented_control(key="kind").value == "Picture"
    assert app.segmented_control(key=PART).options == ["Similarity"]
    assert app.text_area(key="compare_texts").value.splitlines()[0] == "a photo of a cat"
    app.segmented_control(key="kind").set_value("Text").run()
    assert compared_options(app) == ["two encoders", "two inputs"]
    assert app.segmented_control(key=PART).value == "Heads"


@pytest.mark.usefixtures("clip")
def test_a_link_that_names_the_encoder_of_texts_opens_that_of_pictures(open_compare):
    app = open_compare(**OWN | {"kind": "Text", "checkpoint": "own/text_model"})
    assert "Logit = **20**" in page_text(app)
    assert app.selectbox(key="checkpoint").value == "own/vision_model"


@pytest.mark.rest_is_slow
@pytest.mark.usefixtures("clip")
@pytest.mark.parametrize(
    ("texts", "expected_message"),
    [
        (" \n\n", "Write a text above"),
        ("\n".join(map(str, range(21))), "At most 20 texts are compared with a picture, and above are 21."),
    ],
)
def test_no_text_and_too_many_are_refused(open_compare, texts, expected_message):
    assert expected_message in message(open_compare(**OWN | {"compare_texts": texts}))


@pytest.mark.usefixtures("clip")
def test_equal_texts_and_empty_lines_are_read_once(open_compare):
    app = open_compare(**OWN | {"compare_texts": " me\n\nme \nthe film"})
    assert "softmax over these 2 texts" in page_text(app)


@pytest.mark.usefixtures("clip")
def test_a_text_longer_than_its_encoder_is_cut_and_said_to_be(open_compare):
    app = open_compare(**OWN | {"compare_texts": "the film " * 30})
    assert (
        "is too long for the encoder of texts, which leaves out the last 22 tokens: its tokenizer"
        in page_text(app)
    )
    assert "softmax over this one text, and so 1" in page_text(app)


def test_weights_without_a_scale_are_said_to_have_none(open_compare, clip):
    weights = load_file(clip / "model.safetensors")
    del weights["logit_scale"]
    save_file(weights, clip / "model.safetensors", {"format": "pt"})
    text = message(open_compare(**OWN))
    assert text == "Own has no logit_scale, the number by which its logits are multiplied."


@pytest.mark.usefixtures("clip")
def test_the_logit_of_a_chosen_text_falls_without_patches(open_compare):
    app = open_compare(**OWN | {"compare_checked": "me"})
    assert app.selectbox(key="compare_checked").value == "me"
    assert "patches lower the logit of “me”" in page_text(app)
    frame = table(app, "Deletion: fall of the logit", "map", "random")
    assert frame["map"].iloc[0] == pytest.approx(0, abs=1e-5)
    assert frame["count"].tolist() == [0, 1, 3, 4, 6, 8, 10, 12, 13, 15, 16]
    assert frame["map"].iloc[-1] == pytest.approx(frame["random"].iloc[-1], abs=1e-5)


@pytest.mark.usefixtures("clip")
def test_greying_that_takes_long_waits_for_a_button(open_compare, monkeypatch):
    monkeypatch.setattr(estimated_work, "AT_ONCE", 0)
    app = open_compare(**OWN)
    assert "patches lower the logit" not in page_text(app)
    app.button(key="text_falls_wanted").click().run()
    assert "patches lower the logit" in page_text(app)
