from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Generator
from torch.nn import functional

from model.train.corpus import Corpus
from model.train.task_reviews import (
    CLS,
    IGNORED,
    MASK,
    PAD,
    SEP,
    MaskedTokens,
    Sentiment,
    TokenMasking,
    TrueLabels,
    masked_loss,
)
from tests.model import tiny


@pytest.fixture
def corpus() -> Corpus:
    random = np.random.default_rng(0)
    # token 5 makes up half of the text
    parts = [
        np.where(random.random(n) < 0.5, 5, random.integers(6, 40, n)) for n in random.integers(20, 90, 64)
    ]
    return Corpus(np.concatenate(parts).astype(np.int32), np.cumsum([0, *map(len, parts)], dtype=np.int64))


def test_masking_hides_its_share_of_words_and_never_a_special_token(corpus):
    masking = TokenMasking(40, share=0.15)
    tokens = torch.from_numpy(corpus.ids.astype(np.int64))[None].repeat(50, 1)
    tokens[:, 0], tokens[:, -1], tokens[:, 1] = CLS, SEP, PAD
    changed, targets = masking.hide(tokens, Generator().manual_seed(0))
    hidden = targets != IGNORED
    assert not hidden[:, [0, 1, -1]].any()
    assert hidden.double().mean().item() == pytest.approx(0.15, abs=0.01)
    assert torch.equal(targets[hidden], tokens[hidden])
    assert torch.equal(changed[~hidden], tokens[~hidden])
    assert (changed[hidden] == MASK).double().mean().item() == pytest.approx(0.8, abs=0.02)
    assert (changed[hidden] == tokens[hidden]).double().mean().item() == pytest.approx(0.1, abs=0.06)


def test_windows_are_closed_and_no_longer_than_asked(corpus):
    task = MaskedTokens(corpus, corpus, TokenMasking(40, share=0.15), window=32)
    tokens, targets = task.batch(0, 0, 8)
    assert tokens.shape == targets.shape
    assert tokens.shape[1] <= 32
    assert (tokens[:, 0] == CLS).all()
    assert ((tokens == SEP).sum(dim=1) == 1).all()


def test_batches_depend_on_seed_and_step_alone(corpus):
    tasks = [MaskedTokens(corpus, corpus, TokenMasking(40, share=0.15), window=32) for _ in range(2)]
    tasks[0].batch(0, 0, 8)
    for one, other in zip(*(task.batch(0, 5, 8) for task in tasks), strict=True):
        assert torch.equal(one, other)


def test_sentiment_labels_follow_their_reviews(corpus):
    labels = torch.arange(64) / 64
    # hides nothing, so that a review can be recognised
    masking = TokenMasking(40, share=0.0)
    held_out = (corpus, torch.zeros(64, dtype=torch.int64))
    task = Sentiment((corpus, labels), held_out, masking, n_positions=100, masked_token_weight=0.2)
    tokens, targets, chosen = task.batch(1, 3, 4)
    assert (targets == IGNORED).all()
    for row, label in zip(tokens, chosen, strict=True):
        review = corpus[int(label * 64)]
        assert row[1 : len(review) + 1].tolist() == review.tolist()


def test_of_a_long_review_the_end_is_read(corpus):
    held_out = (corpus, torch.zeros(64, dtype=torch.int64))
    labels = torch.arange(64) / 64
    task = Sentiment(
        (corpus, labels), held_out, TokenMasking(40, share=0.0), n_positions=12, masked_token_weight=0.2
    )
    tokens, _, chosen = task.batch(0, 0, 4)
    for row, label in zip(tokens, chosen, strict=True):
        assert row.tolist() == [CLS, *corpus[int(label * 64)][-10:], SEP]


def test_true_labels_follow_their_reviews_as_far_as_the_positions_reach(corpus):
    labels = torch.arange(64)
    task = TrueLabels((corpus, labels), (corpus, labels), (corpus, labels), n_positions=30)
    tokens, chosen = task.batch(1, 3, 4)
    assert tokens.shape[1] <= 30
    for row, label in zip(tokens, chosen, strict=True):
        review = corpus[int(label)][:30]
        assert row[: len(review)].tolist() == review.tolist()
        assert (row[len(review) :] == PAD).all()


def test_the_masked_loss_is_the_mean_over_what_is_hidden_and_nothing_where_nothing_is():
    model = tiny.build(replace(tiny.TEXT, masked_token_output=True))
    states = torch.randn(2, 3, 8, generator=Generator().manual_seed(0))
    targets = torch.tensor([[IGNORED, 7, IGNORED], [9, IGNORED, 11]])
    logits = model.predict_tokens(torch.stack((states[0, 1], states[1, 0], states[1, 2])))
    expected = functional.cross_entropy(logits, torch.tensor([7, 9, 11]))
    torch.testing.assert_close(masked_loss(model, states, targets), expected)
    assert masked_loss(model, states, torch.full((2, 3), IGNORED)).item() == 0
