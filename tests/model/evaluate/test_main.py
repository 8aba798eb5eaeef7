"""The command that measures a checkpoint."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from model.capture import capture
from model.checkpoint import load, predictions, record_figures, save
from model.checkpoint.training_history import all_figures
from model.config import preset
from model.evaluate import __main__ as module
from model.evaluate.__main__ import classification_metrics, evaluate
from model.experiments import batching
from model.inputs.digits import to_input
from model.inputs.text import train_tokenizer, train_word_tokenizer
from model.loaded import Loaded
from model.transformer import Transformer
from tests.full_disk import FULL, full_after
from tests.model import tiny
from tests.refused import refused
from tests.tolerance import rounding

ROOT = Path(__file__).parents[3]


def test_classification_by_hand():
    logits = torch.tensor([[0.0, 0.0], [0.0, np.log(3.0)]])
    figures = classification_metrics(logits, torch.tensor([1, 0]))
    assert figures["n"] == 2
    assert figures["accuracy"] == 0.0  # of two equal logits the first is taken
    assert figures["loss"] == pytest.approx((np.log(2) + np.log(4)) / 2, rel=rounding(16))


@pytest.fixture
def few_digits(monkeypatch) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    digits = (
        random.integers(0, 256, (70, 28, 28)).astype(np.uint8),
        random.integers(0, 10, 70).astype(np.uint8),
    )
    monkeypatch.setattr(module, "examples", lambda: digits)
    return digits


@pytest.fixture
def digit_folder(tmp_path):
    torch.manual_seed(0)
    save(tmp_path / "digits", Transformer(preset("mnist-pre-ln")), {})
    return tmp_path / "digits"


@pytest.fixture
def review_folder(tmp_path):
    torch.manual_seed(0)
    config = preset("imdb-post-ln")
    tokenizer = train_tokenizer(["a good film , a bad film"], config.vocab_size, config.n_positions)
    save(tmp_path / "reviews", Transformer(config), {}, tokenizer)
    return tmp_path / "reviews"


def test_digits_against_one_batch(few_digits, digit_folder):
    loaded = load(digit_folder, "cpu")
    logits, labels = evaluate(loaded)
    images, expected = few_digits
    assert labels.tolist() == expected.tolist()
    with torch.inference_mode():
        torch.testing.assert_close(
            logits, loaded.model(to_input(images, loaded.config)), atol=1e-4, rtol=1e-4
        )


def test_reviews_come_back_in_the_order_of_the_file(review_folder, tmp_path):
    loaded = load(review_folder, "cpu")
    texts = ["a bad film", "good", "a good film , a bad film", "", "NA"]
    csv = tmp_path / "reviews.csv"
    lines = [
        f'"{text}",{label}' for text, label in zip(texts, ("negative", 1, "0", "Positive", 1), strict=True)
    ]
    csv.write_text("text,label\n" + "\n".join(lines), encoding="utf-8")
    logits, labels = evaluate(loaded, csv)
    assert labels.tolist() == [0, 1, 0, 1, 1]
    with torch.inference_mode():
        for text, row in zip(texts, logits, strict=True):
            alone = loaded.model(torch.tensor([loaded.tokenizer.encode(text).ids]))[0]
            torch.testing.assert_close(row, alone, atol=1e-4, rtol=1e-4)


def test_windows_and_batches_of_any_size_come_to_the_same(review_folder, tmp_path, monkeypatch):
    loaded = load(review_folder, "cpu")
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(("good", "bad", "film"), n)) for n in random.integers(1, 20, 23)]
    csv = tmp_path / "reviews.csv"
    csv.write_text("id,label,text\n" + "\n".join(f"{n},{n % 2},{text}" for n, text in enumerate(texts)))
    at_once, labels = evaluate(loaded, csv)
    assert labels.tolist() == [n % 2 for n in range(23)]
    monkeypatch.setattr(module, "WINDOW", 5)
    monkeypatch.setattr(module, "LENGTHS", 3)
    monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", limit := 2 * 12 * loaded.config.d_ff)
    sizes, batches = [], module._text_batches

    def noted(*arguments):
        for positions, inputs in batches(*arguments):
            sizes.append(tuple(inputs.shape))
            yield positions, inputs

    monkeypatch.setattr(module, "_text_batches", noted)
    torch.testing.assert_close(evaluate(loaded, csv)[0], at_once, atol=1e-4, rtol=1e-4)
    assert sum(n for n, _ in sizes) == 23
    assert all(n == 1 or n * length * loaded.config.d_ff <= limit for n, length in sizes)
    assert any(n > 1 for n, _ in sizes)
    assert len(sizes) >= 5


def test_a_wrong_label_is_refused_before_the_first_text_is_read(review_folder, tmp_path, monkeypatch):
    csv = tmp_path / "reviews.csv"
    csv.write_text("text,label\n" + "good,1\n" * 20 + "bad,maybe\n")
    monkeypatch.setattr(Transformer, "forward", None)
    with pytest.raises(ValueError, match="got 'maybe'"):
        evaluate(load(review_folder, "cpu"), csv)


@pytest.mark.slow
def test_command_prints_one_line_and_records_it(few_digits, digit_folder, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["evaluate", str(digit_folder), "--record", "some digits", "--device", "cpu"]
    )
    module.main()
    printed = json.loads(capsys.readouterr().out)
    loaded: Loaded = load(digit_folder, "cpu")
    assert loaded.history["figures"] == {
        "n": 70,
        "accuracy": printed["accuracy"],
        "loss": printed["loss"],
        "data": "some digits",
    }
    made = predictions(str(digit_folder))
    assert made["loss"].mean() == pytest.approx(printed["loss"], rel=1e-5)
    assert (made["predicted"] == few_digits[1]).mean() == pytest.approx(printed["accuracy"])
    logits, labels = evaluate(loaded)
    np.testing.assert_allclose(
        made["loss"], functional.cross_entropy(logits, labels, reduction="none"), rtol=1e-5
    )


def test_figures_of_several_data_sets_stand_beside_each_other(review_folder):
    def figures(data, accuracy):
        return {"n": 4, "accuracy": accuracy, "loss": 0.1, "data": data}

    for data, accuracy in (
        ("reviews", 0.9),
        ("sentences", 0.7),
        ("edits", 0.6),
        ("sentences", 0.8),
        ("reviews", 1.0),
    ):
        record_figures(review_folder, figures(data, accuracy))
    history = load(review_folder, "cpu").history
    assert history["figures"] == figures("reviews", 1.0)
    assert all_figures(history) == [figures("reviews", 1.0), figures("edits", 0.6), figures("sentences", 0.8)]
    assert all_figures({}) == []


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("text,label\ngood,maybe\n", "a label must be one of"),
        ("text,label\ngood,2\n", "a label must be one of"),
        ("text,label\n", "reviews.csv holds no text"),
        (
            "review,label\ngood,1\n",
            "lacks the column text: name it in the first line, which is “review,label”",
        ),
    ],
)
def test_bad_csv_is_refused_in_one_sentence(review_folder, tmp_path, content, sentence):
    csv = tmp_path / "reviews.csv"
    csv.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        evaluate(load(review_folder, "cpu"), csv)


def test_class_names_may_have_capitals_and_padding_may_be_unknown(tmp_path):
    config = replace(tiny.TEXT, class_names=("Sad", "Happy"), padding_id=None)
    save(tmp_path / "own", tiny.build(config), {}, tiny.tokenizer(config.n_positions))
    csv = tmp_path / "reviews.csv"
    csv.write_text("text,label\na good film,happy\nfilm,SAD\n", encoding="utf-8")
    loaded = load(tmp_path / "own", "cpu")
    logits, labels = evaluate(loaded, csv)
    assert labels.tolist() == [1, 0]
    for text, row in zip(("a good film", "film"), logits, strict=True):
        np.testing.assert_allclose(row, capture(loaded, text).logits, atol=1e-5)


def test_a_text_in_which_there_is_no_token_is_refused(tmp_path):
    words = train_word_tokenizer(["a good film"], vocab_size=30, n_positions=12)
    save(tmp_path / "words", tiny.build(tiny.TEXT), {}, words)
    csv = tmp_path / "reviews.csv"
    csv.write_text('text,label\na good film,1\n"<br />",0\n', encoding="utf-8")
    with pytest.raises(ValueError, match="in text 2 there is no token"):
        evaluate(load(tmp_path / "words", "cpu"), csv)


def test_data_of_the_wrong_kind_are_refused(review_folder, digit_folder, tmp_path):
    with pytest.raises(ValueError, match="name a CSV"):
        evaluate(load(review_folder, "cpu"))
    with pytest.raises(ValueError, match="reads digits"):
        evaluate(load(digit_folder, "cpu"), tmp_path / "reviews.csv")


@pytest.mark.parametrize(
    ("class_names", "sentence"),
    [((), "has no classes"), (("0", "1"), "has 2 classes, the labels go up to 9")],
)
def test_an_encoder_of_other_classes_than_the_digits_is_refused(few_digits, tmp_path, class_names, sentence):
    few_digits[1][0] = 9
    config = replace(preset("mnist-pre-ln"), class_names=class_names)
    save(tmp_path / "own", Transformer(config), {})
    with pytest.raises(ValueError, match=sentence):
        evaluate(load(tmp_path / "own", "cpu"))


def test_command_refuses_in_one_sentence_without_traceback(tmp_path):
    arguments = [sys.executable, "-m", "model.evaluate", str(tmp_path / "nothing")]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("model.evaluate: no checkpoint")


@pytest.mark.slow
@pytest.mark.usefixtures("few_digits")
def test_figures_that_cannot_be_recorded_are_said_and_end_in_one_sentence(digit_folder, capsys, monkeypatch):
    before = {path.name: path.read_bytes() for path in digit_folder.iterdir()}
    monkeypatch.setattr(sys, "argv", ["model.evaluate", str(digit_folder), "--record", "x" * 500])
    with full_after(100), pytest.raises(SystemExit) as ended:
        module.main()
    shown = capsys.readouterr()
    assert json.loads(shown.out)["n"] == 70
    assert re.fullmatch(f"model.evaluate: {FULL}: .*predictions.safetensors\n", shown.err)
    assert ended.value.code == 2
    assert {path.name: path.read_bytes() for path in digit_folder.iterdir()} == before


@pytest.mark.slow
@pytest.mark.usefixtures("few_digits")
def test_the_names_of_the_app_are_those_of_the_command(digit_folder, capsys, monkeypatch):
    monkeypatch.setattr("model.sources.locations._root", None)
    monkeypatch.setenv("LOUPE_MODELS", str(digit_folder.parent))
    monkeypatch.setattr(sys, "argv", ["model.evaluate", "digits"])
    module.main()
    assert json.loads(capsys.readouterr().out)["checkpoint"] == "digits"


def test_a_models_folder_that_is_not_there_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LOUPE_MODELS", str(tmp_path / "nowhere"))
    monkeypatch.setattr(sys, "argv", ["model.evaluate", "mnist-pre-ln"])
    with refused(capsys, r"^model\.evaluate: the models folder, nowhere, cannot be read$"):
        module.main()


def test_a_gpu_that_is_too_small_is_said_in_one_sentence(digit_folder, monkeypatch, capsys):
    def evaluate(*_):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(module, "evaluate", evaluate)
    monkeypatch.setattr(sys, "argv", ["model.evaluate", str(digit_folder)])
    with refused(capsys, r"^model\.evaluate: the memory of the GPU is too small for this"):
        module.main()
