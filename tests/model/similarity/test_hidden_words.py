"""Cosines of two texts without a word of one, a word of the other, or both."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from scipy.stats import spearmanr
from tokenizers import processors

from model.checkpoint import load
from model.similarity.hidden_words import hidden_words
from model.similarity.similarity_parts import similarity_parts
from tests.model import tiny
from tests.model.huggingface import folders
from tests.model.huggingface.agreement import picture
from tests.model.huggingface.sentence_folders import build_sentence_encoder
from tests.model.similarity.test_similarity_parts import of_tokens_alone

A, B = "the film is unbelievable .", "a long slow story"
WORDS_OF_A = ([1], [2], [3], [4, 5, 6, 7], [8])  # positions of its words; 0 and 9 are special tokens
WORDS_OF_B = ([1], [2], [3], [4])


def effects(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The cells, of the pooled states of both texts: the whole one, then one for each hidden word."""
    s = u @ v.T / np.linalg.norm(u, axis=1)[:, None] / np.linalg.norm(v, axis=1)
    return s[0, 0] - s[1:, :1] - s[:1, 1:] + s[1:, 1:]


def test_two_words_and_one_by_hand():
    loaded = of_tokens_alone(**{"[CLS]": np.array([1, 0]), "a": np.array([2, 0]), "b": np.array([0, 3])})
    result = hidden_words(loaded, "a b", "b")
    assert (result.rows, result.columns) == (("1 a", "2 b"), ("1 b",))
    # the directions of the sums are (3, 3), without a (1, 3), without b (3, 0); of the other text (1, 3), without b (1, 0)
    without_a = 4 / np.sqrt(20) - 1 - 1 / np.sqrt(2) + 1 / np.sqrt(10)
    without_b = 4 / np.sqrt(20) - 1 / np.sqrt(10) - 1 / np.sqrt(2) + 1
    np.testing.assert_allclose(result.values, [[without_a], [without_b]], atol=1e-6)
    assert result.recorded == pytest.approx(4 / np.sqrt(20), abs=1e-6)
    np.testing.assert_allclose(result.falls[0], 4 / np.sqrt(20) - np.array([1, 1 / np.sqrt(10)]), atol=1e-6)
    np.testing.assert_allclose(result.falls[1], [4 / np.sqrt(20) - 1 / np.sqrt(2)], atol=1e-6)


def test_with_mean_pooling_they_are_those_of_another_attention_mask(tmp_path):
    build_sentence_encoder(tmp_path)
    theirs = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    loaded = load(tmp_path)

    def pooled(text: str, words: tuple) -> np.ndarray:
        ids = torch.tensor([loaded.tokenizer.encode(text).ids])
        rows = []
        for word in ([], *words):
            mask = torch.ones_like(ids)
            mask[0, word] = 0
            with torch.no_grad():
                states = theirs(input_ids=ids, attention_mask=mask).last_hidden_state[0]
            rows.append(states[mask[0].bool()].mean(dim=0).double().numpy())
        return np.stack(rows)

    result = hidden_words(loaded, A, B)
    assert result.rows == ("1 the", "2 film", "3 is", "4 unbelievable", "8 .")
    np.testing.assert_allclose(
        result.values, effects(pooled(A, WORDS_OF_A), pooled(B, WORDS_OF_B)), atol=1e-6
    )


def test_an_encoder_without_padding_hides_words_too(tmp_path):
    loaded = folders.encoder(tmp_path, "CLIPTextModel")
    theirs = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    assert loaded.config.padding_id is None

    def pooled(text: str, words: tuple) -> np.ndarray:
        ids = torch.tensor([loaded.tokenizer.encode(text).ids])
        masks = torch.ones(1 + len(words), ids.shape[1], dtype=torch.long)
        for index, word in enumerate(words):
            masks[1 + index, word] = 0
        with torch.no_grad():
            output = theirs(input_ids=ids.expand(len(masks), -1), attention_mask=masks)
        return output.pooler_output.double().numpy()

    expected = effects(pooled(A, WORDS_OF_A), pooled(B, WORDS_OF_B))
    np.testing.assert_allclose(hidden_words(loaded, A, B).values, expected, atol=1e-6)


@pytest.mark.parametrize("pooled", ["class", "mean", "max"])
def test_of_equal_texts_the_cells_are_symmetric_and_no_fall_is_negative(pooled):
    loaded = tiny.loaded(replace(tiny.TEXT, pooling=pooled))
    result = hidden_words(loaded, "great film not", "great film not")
    assert result.recorded == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(result.values, result.values.T, atol=1e-7)
    # where one word is hidden in both, s is 1 again: the cell is the sum of both falls
    np.testing.assert_allclose(result.values.diagonal(), 2 * result.falls[0], atol=1e-6)
    assert (result.falls[0] > 1e-4).all()


def test_the_share_that_is_done_grows_to_all(monkeypatch):
    monkeypatch.setattr("model.similarity.hidden_words.batch_size", lambda *_: 2)
    loaded, shares = tiny.loaded(tiny.TEXT), []
    result = hidden_words(loaded, "great film", "not", progress=shares.append)
    assert shares == pytest.approx([2 / 5, 3 / 5, 1])
    monkeypatch.undo()
    np.testing.assert_allclose(result.values, hidden_words(loaded, "great film", "not").values, atol=1e-7)


def test_agreement_is_the_rank_correlation_with_the_cells_of_the_same_words():
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    result, parts = (
        function(loaded, "great films not", "ab film") for function in (hidden_words, similarity_parts)
    )
    assert result.values.shape == (3, 2)
    cells = parts.by_word().values[1:4, 1:3]
    expected = spearmanr(result.values.ravel(), cells.ravel()).statistic
    assert result.spearman(parts) == pytest.approx(expected)
    assert -1 < expected < 1
    one = hidden_words(loaded, "great", "film")
    assert np.isnan(one.spearman(similarity_parts(loaded, "great", "film")))


def test_what_cannot_be_hidden_is_refused(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    with pytest.raises(ValueError, match="tiny reads no word in this text, only special tokens"):
        hidden_words(loaded, "", "film")
    bare = replace(loaded, tokenizer=tiny.amino_acids(12))
    bare.tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    with pytest.raises(ValueError, match="nothing is left of a text of the one word “A” when it is hidden"):
        hidden_words(bare, "C D", "A")
    image = picture(32)
    with pytest.raises(ValueError, match="a picture has none"):
        hidden_words(folders.encoder(tmp_path, "ViTModel"), image, image)
