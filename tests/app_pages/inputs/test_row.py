from dataclasses import replace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import CHECKPOINT, KIND, TEXT
from app_pages.controls.pages import ATTENTION
from app_pages.inputs.row import INVITATION
from model import checkpoint
from model.inputs.text import train_word_tokenizer
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE, build
from tests.model.huggingface.sentence_folders import build_sentence_encoder


def facts(app: AppTest) -> list[str]:
    assert not app.exception
    (message,) = (caption.value for caption in app.caption if " parameters  \n" in caption.value)
    return [line.strip() for line in message.splitlines()]


def tables(app: AppTest) -> list[str]:
    return [block.value for block in app.markdown if block.value.startswith("| judged on")]


def test_what_a_checkpoint_is(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-post-ln"))
    lines = facts(app)
    assert lines[1:] == ["post-LN, 2 layers × 2 heads", "runs on CPU"]
    assert tables(app) == [
        "| judged on | correct |\n|:--|:--|\n| 10,000 MNIST test digits | 99.5 ± 0.1\u2009% |"
    ]
    # patches 16·8+8, class token 8, positions 5·8; a layer: q, k 2·(8·6+6), v 8·10+10, output 10·8+8,
    # norms 4·8, feed-forward 2·8·16+16+8; classifier 8·10+10
    layer = 2 * (8 * 6 + 6) + 8 * 10 + 10 + 10 * 8 + 8 + 4 * 8 + 2 * 8 * 16 + 16 + 8
    assert lines[0] == f"{16 * 8 + 8 + 8 + 5 * 8 + 2 * layer + 8 * 10 + 10:,} parameters"


def test_what_was_not_measured_says_so(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
    assert not tables(app)
    assert "Its accuracy was not measured." in [block.value for block in app.caption]


def test_checkpoints_of_several_seeds_stand_once_with_a_box_for_the_seed(open_app, checkpoints):
    for name in ("small-pre-ln-seed0", "small-pre-ln-seed1"):
        checkpoint.save(checkpoints / name, tiny.build(tiny.DIGIT), {})
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("small-pre-ln-seed1"))
    options = app.selectbox(key="checkpoint").options
    assert [name for name in options if name.startswith("small")] == ["small-pre-ln-seed1"]
    assert app.selectbox(key="checkpoint").value == "small-pre-ln-seed1"
    assert "seed 1: one of 2 encoders that differ only in the random numbers of their training" in facts(app)
    app.selectbox(key="seed").set_value("small-pre-ln-seed0").run()
    assert not app.exception
    assert app.session_state["checkpoint"] == "small-pre-ln-seed0"
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
    assert not [box for box in app.selectbox if box.key == "seed"]


def test_a_text_in_which_the_encoder_finds_no_token_is_none(open_app, checkpoints):
    words = train_word_tokenizer(["a good film"], vocab_size=30, n_positions=12)
    checkpoint.save(checkpoints / "words", tiny.build(tiny.TEXT), {}, words)
    app = open_app(ATTENTION, CHECKPOINT.to("words"), TEXT.to("<br />"))
    assert not app.exception
    assert [block.value for block in app.info] == [INVITATION["Text"]]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("page", "part"),
    [
        ("attention", {}),
        ("positions", {"positions": "Embeddings"}),
        ("inside_a_head", {}),
    ],
)
def test_an_encoder_without_classes_shows_its_heads_and_no_prediction(open_app, checkpoints, page, part):
    checkpoint.save(checkpoints / "headless", tiny.build(replace(tiny.DIGIT, class_names=())), {})
    app = open_app(f"app_pages/{page}/page.py", kind="Digit", checkpoint="headless", **part)
    assert not app.exception
    assert not app.info
    assert not app.metric
    message = "This encoder has no classification head, and so no prediction."
    assert (message in [caption.value for caption in app.caption]) == (page == "attention")
    app.selectbox(key="checkpoint").set_value("mnist-pre-ln").run()
    assert bool(app.metric) == (page == "attention")


def test_a_history_of_nonsense_is_refused_in_one_sentence(open_app, checkpoints):
    (checkpoints / "mnist-pre-ln" / "history.json").write_text('{"figures": {"accuracy": "high"}}')
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
    assert not app.exception
    (message,) = (block.value for block in app.info)
    assert message.startswith("The encoder mnist-pre-ln cannot be used (mnist-pre-ln/history.json")


def test_activations_that_are_no_numbers_are_said_and_not_drawn(open_app, checkpoints):
    model = tiny.build(tiny.DIGIT)
    with torch.no_grad():
        model.embedding.patches.weight.fill_(3e38)
    checkpoint.save(checkpoints / "huge", model, {})
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("huge"))
    assert not app.exception
    assert ["huge cannot be shown with this input" in block.value for block in app.info] == [True]


def test_where_a_tokenizer_is_not_that_of_its_library_is_said_beside_the_answer(open_app, checkpoints):
    build(checkpoints / "own", "BertForSequenceClassification")
    (checkpoints / "own" / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2TokenizerFast"}')
    app = open_app(ATTENTION, CHECKPOINT.to("own"), TEXT.to("a film"))
    assert not app.exception
    assert sum("GPT2Tokenizer" in caption.value for caption in app.caption) == 1
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
    assert not any("GPT2Tokenizer" in caption.value for caption in app.caption)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", ["attention", "masks", "inside_a_head", "compare"])
def test_where_an_answer_is_not_that_of_its_library_is_said_beside_it(page, open_app, checkpoints):
    build_sentence_encoder(checkpoints / "own", {"prompts": {"a": "query: "}, "default_prompt_name": "a"})
    app = open_app(f"app_pages/{page}/page.py", KIND.to("Text"), CHECKPOINT.to("own"), text=SENTENCE)
    assert not app.exception
    assert sum("puts “query" in caption.value for caption in app.caption) == 1
