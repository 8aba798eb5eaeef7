from pathlib import Path

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.config import preset
from model.inputs.text import train_tokenizer
from model.train.corpus import tokenize
from model.train.datasets import edited_reviews, phrases
from model.train.prepare import prepare
from model.train.prepare_reviews import split_reviews, without_held_out_pairs
from model.train.prepare_sentences import POSITIVE
from model.train.prepare_taught import (
    PAIR,
    SURE,
    TAUGHT,
    answers_of,
    prepare_taught,
    sentences_of,
    stored,
    taught_task,
    together,
)
from model.train.reading_teacher import ReadingTeacher, state_file
from model.train.recipes import recipe
from tests.model.huggingface import folders
from tests.tolerance import encoder_rounding


def log_odds(texts: list[str]) -> np.ndarray:
    """The stand-in for a teacher: longer texts are better."""
    return np.array([len(text) / 100 for text in texts], np.float32)


@pytest.fixture
def prepared(few_reviews, tmp_path):
    edited, treebank = edited_reviews(few_reviews), phrases(few_reviews)
    table = split_reviews(few_reviews, tmp_path, excluded=edited.text[edited.split == "dev"])
    tokenizer = train_tokenizer(table.texts, 300, 64)
    held_out = tokenize(tokenizer, table.held_out_texts), torch.from_numpy(table.held_out_labels)
    pairs = without_held_out_pairs(edited, table)
    task = taught_task(tokenizer, table.texts, table.labels, held_out, treebank, pairs, 64, log_odds)
    return task, table, treebank


def test_a_phrase_has_the_mean_of_rating_and_teacher(prepared):
    task, _, treebank = prepared
    wholes = treebank[(treebank.split == "train") & (treebank.whole == 1)]
    expected = (POSITIVE[wholes.rating] + 1 / (1 + np.exp(-log_odds(wholes.text.tolist())))) / 2
    assert task.parts[1].task.labels.numpy() == pytest.approx(expected)


def test_a_labelled_review_keeps_its_label_and_others_have_the_teachers(prepared):
    task, table, _ = prepared
    reviews = task.parts[-1].task
    n_labelled = int((table.labels >= 0).sum())
    of_labelled, of_others = reviews.labels[:n_labelled].numpy(), reviews.labels[n_labelled:].numpy()
    assert of_labelled == pytest.approx(np.where(table.labels[table.labels >= 0] > 0, SURE, 1 - SURE))
    texts = [text for text, label in zip(table.texts, table.labels, strict=True) if label < 0]
    assert sorted(of_others) == pytest.approx(sorted(1 / (1 + np.exp(-log_odds(texts)))))


def test_masked_tokens_are_guessed_in_whole_reviews_alone(prepared):
    task, _, _ = prepared
    weights = [getattr(part.task, "masked_token_weight", 0.0) for part in task.parts]
    assert weights[-1] > 0
    assert not any(weights[:-1])


def test_sentences_of_reviews_are_of_some_words_and_each_is_taken_once():
    text = "Bad. This film made me cry. <br />And so it goes on! This film made me cry."
    assert sorted(sentences_of([text, text], 10)) == ["And so it goes on!", "This film made me cry."]
    assert len(sentences_of([text], 1)) == 1


def test_answers_are_computed_once_for_a_teacher_and_its_texts(tmp_path):
    asked = []

    def counted(texts):
        asked.append(texts)
        return log_odds(texts)

    for stamp in ("one", "one", "other"):
        assert stored(counted, tmp_path, stamp)(["a film"]) == pytest.approx(log_odds(["a film"]))
    assert stored(counted, tmp_path, "one")(["two", "films"]) == pytest.approx(log_odds(["two", "films"]))
    assert asked == [["a film"], ["a film"], ["two", "films"]]


def test_without_a_fine_tuned_teacher_the_command_that_makes_one_is_named(few_reviews, tmp_path):
    config, device = preset("imdb-pre-ln"), torch.device("cpu")
    with pytest.raises(
        FileNotFoundError, match=r"python -m model\.train\.fine_tune MiniLM trains the teacher"
    ):
        prepare_taught(
            config,
            few_reviews,
            tmp_path / "run",
            device,
            train_tokenizer(["a film"], 300, 64),
            Path("MiniLM"),
        )
    assert not state_file(tmp_path).exists()
    with pytest.raises(ValueError, match="needs --teacher"):
        prepare(recipe("imdb-pre-ln-taught"), few_reviews, tmp_path / "run", device)
    assert recipe("imdb-pre-ln-taught").phases[-1].task == TAUGHT


def test_answers_of_an_encoder_are_those_of_the_captured_logits():
    loaded = load("imdb-pre-ln", "cpu")
    texts = ["A dull film.", "It is not a bad film, it is a great one.", "great"]
    expected = [np.diff(capture(loaded, text).logits)[0] for text in texts]
    assert answers_of(loaded, texts) == pytest.approx(expected, abs=encoder_rounding(loaded.config))


def test_teacher_and_encoders_have_half_of_the_say_each(tmp_path):
    folders.build(tmp_path, "BertModel", max_position_embeddings=256)
    teacher = ReadingTeacher.untrained(tmp_path)
    encoders = [load(name, "cpu") for name in PAIR]
    texts = ["a film", "not a bad film at all"]
    of_encoders = [answers_of(loaded, texts) for loaded in encoders]
    expected = teacher.log_odds(texts, teacher.faster_precision()) / 2 + sum(of_encoders) / 4
    # bf16 keeps 8 binary digits
    assert together(teacher, encoders)(texts) == pytest.approx(expected, abs=2**-6)
