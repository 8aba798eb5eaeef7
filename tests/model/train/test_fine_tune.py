from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
import torch

from model.train.corpus import tokenize
from model.train.datasets import edited_reviews, phrases
from model.train.fine_tune import Part, evaluate, run, train, training_parts
from model.train.prepare_reviews import split_reviews
from model.train.prepare_sentences import held_out_sets
from model.train.reading_teacher import ReadingTeacher, state_file
from tests.model.huggingface import folders
from tests.tolerance import encoder_rounding

TEXTS = ["a film that made me cry", "bad", "a story", "not a bad film", "slow", "it is long"] * 4


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    folders.build(folder, "BertModel", max_position_embeddings=256)
    return folder


def untrained(encoder) -> ReadingTeacher:
    torch.manual_seed(0)
    return ReadingTeacher.untrained(encoder)


def parts(teacher: ReadingTeacher) -> list[Part]:
    positive = np.array(["bad" in text or "slow" in text for text in TEXTS], np.float32)
    return [Part(tokenize(teacher.tokenizer, TEXTS), 1 - positive, size=8)]


def options(n_steps: int) -> Namespace:
    return Namespace(steps=n_steps, precision="fp32")


HELD_OUT = {"a set": pd.DataFrame({"text": ["a story", "slow"], "label": [1, 0]})}


def test_a_teacher_learns_what_it_is_shown(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("model.train.fine_tune.LEARNING_RATE", 3e-3)
    teacher = untrained(encoder)
    before = parts(teacher)[0].loss(teacher, np.arange(24)).item()
    train(teacher, parts(teacher), HELD_OUT, tmp_path / "state", options(60))
    assert parts(teacher)[0].loss(teacher, np.arange(24)).item() < 0.8 * before
    assert evaluate(teacher, HELD_OUT, "fp32") == {"a set": 1.0}


def test_a_stopped_run_goes_on_to_the_same_weights(encoder, tmp_path, monkeypatch):
    whole, stopped = untrained(encoder), untrained(encoder)
    train(whole, parts(whole), HELD_OUT, tmp_path / "whole", options(6))
    monkeypatch.setattr("model.train.fine_tune.SAVE_EVERY", 1)

    class StoppedError(Exception):
        pass

    def at_the_third(teacher: ReadingTeacher) -> list[Part]:
        (part,) = parts(teacher)
        calls = iter(range(3))

        class Breaking(Part):
            def loss(self, teacher, indices):
                if next(calls, None) is None:
                    raise StoppedError
                return Part.loss(self, teacher, indices)

        return [Breaking(part.corpus, part.positive, part.size)]

    with pytest.raises(StoppedError):
        train(stopped, at_the_third(stopped), HELD_OUT, tmp_path / "stopped", options(6))
    again = untrained(encoder)
    train(again, parts(again), HELD_OUT, tmp_path / "stopped", options(6))
    assert again.log_odds(TEXTS) == pytest.approx(
        whole.log_odds(TEXTS), abs=encoder_rounding(whole.model.encoder.config)
    )


def test_of_a_pair_both_versions_and_their_difference_count(encoder):
    teacher = untrained(encoder)
    corpus = tokenize(teacher.tokenizer, ["a bad film", "a film"])
    part = Part(corpus, np.array([0.1, 0.8], np.float32), size=1, are_pairs=True)
    first, second = (torch.tensor(value) for value in teacher.log_odds(["a bad film", "a film"]).tolist())
    of_first = -(0.1 * first.sigmoid().log() + 0.9 * (-first).sigmoid().log())
    of_second = -(0.8 * second.sigmoid().log() + 0.2 * (-second).sigmoid().log())
    expected = (of_first + of_second) / 2 - 0.5 * (second - first).sigmoid().log()
    assert part.loss(teacher, np.array([0])).item() == pytest.approx(expected.item(), rel=1e-5)


def test_nothing_that_is_judged_on_is_learned(encoder, few_reviews, tmp_path, monkeypatch):
    learned: list[str] = []

    def recorded(tokenizer, texts):
        learned.extend(texts)
        return tokenize(tokenizer, texts)

    monkeypatch.setattr("model.train.fine_tune.tokenize", recorded)
    edited, treebank = edited_reviews(few_reviews), phrases(few_reviews)
    reviews = split_reviews(few_reviews, tmp_path, excluded=edited.text[edited.split == "dev"])
    training_parts(untrained(encoder), reviews, treebank, edited)
    judged = [text for table in held_out_sets(treebank, edited).values() for text in table.text]
    assert len(learned) > 100
    assert not {*judged, *reviews.held_out_texts} & set(learned)


def test_the_command_fine_tunes_and_prints_each_held_out_set(encoder, few_reviews, tmp_path, capsys):
    run(Namespace(encoder=encoder, data=few_reviews, runs=tmp_path, steps=2, precision="fp32"))
    printed = capsys.readouterr().out
    for name in ("sentences", "edited reviews", "negation", "reviews"):
        assert f"'{name}'" in printed
    assert state_file(tmp_path).exists()
