import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from model.train.corpus import Corpus
from model.train.task_reviews import CLS, PAD, SEP, Sentiment, TokenMasking
from model.train.task_sentences import CombinedTask, EditedPairs, WeightedTask
from tests.model import tiny


def corpus(*reviews: list[int]) -> Corpus:
    return Corpus(np.concatenate(reviews).astype(np.int32), np.cumsum([0, *map(len, reviews)]))


@pytest.fixture
def pairs() -> EditedPairs:
    negative, positive = corpus([5, 6], [7] * 20, [8]), corpus([5, 9, 6], [10] * 20, [11])
    return EditedPairs(negative, positive, n_positions=12, contrast_weight=0.5)


def test_both_versions_of_a_pair_stand_side_by_side_and_end_where_the_encoder_stops_reading(pairs):
    (tokens,) = pairs.batch(0, 0, 3)
    assert tokens.shape == (3, 2, 12)
    rows = {tuple(map(tuple, pair.tolist())) for pair in tokens}
    short = [[CLS, 5, 6, SEP], [CLS, 5, 9, 6, SEP]]
    assert tuple(tuple(row + [PAD] * (12 - len(row))) for row in short) in rows
    assert ((CLS, *[7] * 10, SEP), (CLS, *[10] * 10, SEP)) in rows


def test_the_loss_of_a_pair_counts_each_version_and_which_is_the_positive_one(pairs, monkeypatch):
    model = tiny.build(tiny.TEXT)
    # log-odds 1 for the negative version and 3 for the positive one
    monkeypatch.setattr(model, "classify", lambda *_: torch.tensor([[0.0, 1.0], [0.0, 3.0]]))
    loss = pairs.loss(model, (torch.full((1, 2, 4), 5),))
    versions = (math.log(1 + math.exp(1)) + math.log(1 + math.exp(-3))) / 2
    assert loss.item() == pytest.approx(versions + 0.5 * math.log(1 + math.exp(-2)), rel=1e-6)


def test_a_step_adds_the_losses_of_its_parts(pairs):
    model = tiny.build(replace(tiny.TEXT, masked_token_output=True))
    texts = corpus(*([index % 30 + 5] * 4 for index in range(16)))
    held_out = (texts, torch.arange(16) % 2)
    short = Sentiment(
        (texts, torch.full((16,), 0.7)),
        held_out,
        TokenMasking(100, 0.0),
        n_positions=12,
        masked_token_weight=0.0,
    )
    task = CombinedTask(
        [WeightedTask(short, weight=1.0, share=1.0), WeightedTask(pairs, weight=0.25, share=0.1)],
        {"sentences": held_out, "negation": held_out},
        n_positions=12,
    )
    batch = task.batch(0, 0, 8)
    assert [len(values) for values in batch] == [8, 8, 8, 2]
    tokens, _, labels = batch[:3]
    wanted = torch.stack((1 - labels, labels), dim=-1)
    expected = functional.cross_entropy(model(tokens), wanted) + 0.25 * pairs.loss(model, batch[3:])
    torch.testing.assert_close(task.loss(model, batch), expected)

    figures = task.evaluate(model, 10)
    assert figures["n"] == 10
    assert figures["accuracy, negation"] == figures["accuracy"]
