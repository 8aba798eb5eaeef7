import numpy as np

from model.inputs.text import train_tokenizer
from model.train.corpus import Corpus, pad_rows, similar_lengths, tokenize


def test_tokenize_keeps_whole_reviews_without_special_tokens(tmp_path):
    texts = ["a good film", "a bad film " * 50]
    tokenizer = train_tokenizer(texts, vocab_size=100, n_positions=8)
    corpus = tokenize(tokenizer, texts)
    assert len(corpus) == 2
    assert tokenizer.decode(corpus[0].tolist()) == "a good film"
    assert corpus.lengths.tolist() == [3, 150]
    corpus.save(tmp_path / "ids")
    again = Corpus.read(tmp_path / "ids")
    np.testing.assert_array_equal(again.ids, corpus.ids)
    np.testing.assert_array_equal(again[1], corpus[1])


def test_pieces_are_the_reviews_cut_where_they_end_or_sooner():
    lengths = [1, 9, 40, 200]
    corpus = Corpus(np.arange(250, dtype=np.int32), np.cumsum([0, *lengths]))
    pieces = corpus.pieces(4, 12)
    np.testing.assert_array_equal(np.concatenate([pieces[index] for index in range(len(pieces))]), corpus.ids)
    assert set(corpus.starts) <= set(pieces.starts)
    assert pieces.lengths.min() >= 1
    assert pieces.lengths.max() <= 12
    inner = pieces.lengths[~np.isin(pieces.starts[1:], corpus.starts)]  # the last of a review may be shorter
    assert inner.min() >= 4
    assert len(set(inner)) > 3
    np.testing.assert_array_equal(pieces.starts, corpus.pieces(4, 12).starts)


def test_every_example_comes_once_among_neighbours_of_its_length():
    lengths = np.random.default_rng(0).integers(5, 300, 1000)
    batches = similar_lengths(lengths, 10, seed=3)
    assert sorted(np.concatenate(batches)) == list(range(1000))
    spread = np.mean([np.ptp(lengths[batch]) for batch in batches])
    assert spread < 15
    again = similar_lengths(lengths, 10, seed=3)
    assert all((one == other).all() for one, other in zip(batches, again, strict=True))
    assert (batches[0] != similar_lengths(lengths, 10, seed=4)[0]).any()


def test_an_incomplete_batch_is_left_out_and_not_always_the_longest():
    left_out = set()
    for seed in range(40):
        batches = similar_lengths(np.arange(7), 3, seed=seed)
        assert [len(batch) for batch in batches] == [3, 3]
        left_out |= set(range(7)) - set(np.concatenate(batches))
    assert left_out == set(range(7))


def test_padded():
    rows = pad_rows([np.array([5, 6]), np.array([7])], 0)
    assert rows.tolist() == [[5, 6], [7, 0]]
