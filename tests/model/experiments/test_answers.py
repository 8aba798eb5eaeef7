from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import expit

from model.capture import capture
from model.checkpoint import load
from model.experiments.answers import answers, token_answers
from tests.model.huggingface.folders import SENTENCE, build

INPUTS = (SENTENCE, "a long slow story")


@pytest.mark.parametrize("changed", [{"num_labels": 1}, {"problem_type": "multi_label_classification"}])
def test_answers_are_those_of_transformers(tmp_path: Path, changed: dict) -> None:
    theirs = build(tmp_path / "own", "BertForSequenceClassification", **changed)
    loaded = load(tmp_path / "own")
    found = answers(loaded, INPUTS)
    for given, row in zip(INPUTS, found, strict=True):
        with torch.no_grad():
            logits = theirs(torch.tensor([loaded.tokenizer.encode(given).ids])).logits[0].numpy()
        expected = logits if "num_labels" in changed else expit(logits)
        np.testing.assert_allclose(row, expected, atol=1e-5)


def test_tokens_of_another_class_than_most_are_named(tmp_path: Path) -> None:
    build(tmp_path / "own", "BertForTokenClassification", num_labels=3)
    loaded = load(tmp_path / "own")
    record = capture(loaded, SENTENCE)
    said = record.token_probabilities.argmax(axis=-1).tolist()
    usual = max(range(3), key=lambda at: (said.count(at), -at))
    words = record.positions_with_role("word", "continuation")
    (found,) = token_answers(loaded, [SENTENCE])
    expected = [(record.tokens[at], record.token_class_names[said[at]]) for at in words if said[at] != usual]
    assert found.named == tuple(expected)
    p = record.token_probabilities.astype(float)
    assert found.entropy == pytest.approx(float(-(p * np.log(p)).sum(axis=-1).mean()), rel=1e-5)


def test_of_one_class_those_tokens_are_named_of_which_it_holds(tmp_path: Path) -> None:
    build(tmp_path / "own", "ElectraForPreTraining")
    loaded = load(tmp_path / "own")
    record = capture(loaded, SENTENCE)
    (found,) = token_answers(loaded, [SENTENCE])
    p = record.token_probabilities[:, 0].astype(float)
    assert [token for token, _ in found.named] == [
        record.tokens[at] for at in record.positions_with_role("word", "continuation") if p[at] >= 0.5
    ]
    expected = float(-(p * np.log(p) + (1 - p) * np.log(1 - p)).mean())
    assert found.entropy == pytest.approx(expected, rel=1e-5)
