"""Cosines of two texts by pairs of input tokens, along the lines from references."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from model.capture import activations, capture
from model.checkpoint import load
from model.loaded import Loaded
from model.similarity.integrated_jacobians import integrated_jacobians
from tests.model import tiny
from tests.model.huggingface import folders
from tests.model.huggingface.agreement import picture
from tests.model.huggingface.sentence_folders import build_sentence_encoder
from tests.model.similarity.test_similarity_parts import of_tokens_alone

A, B = "the film is unbelievable .", "a long slow story"


def unit(*numbers: float) -> np.ndarray:
    return np.array(numbers) / np.linalg.norm(numbers)


@pytest.mark.slow
def test_two_words_that_move_the_pooled_state_one_way_by_hand():
    """Without positions and sublayers the sum of tokens is pooled; the reference has zeros, the embedding of padding."""
    loaded = of_tokens_alone(**{"[CLS]": np.array([0, 1]), "a": np.array([2, 0]), "b": np.array([1, 0])})
    parts = integrated_jacobians(loaded, "a b", "b", steps=400)
    moved, other = unit(3, 1) - unit(0, 1), unit(1, 1) - unit(0, 1)
    # of what both words add, the part of each is its share of the length
    expected = np.zeros((4, 3))
    expected[1:3, 1] = np.array([2, 1]) / 3 * (moved @ other)
    np.testing.assert_allclose(parts.values, expected, atol=1e-5)
    assert parts.rows == ("0 [CLS]", "1 a", "2 b", "3 [SEP]")
    assert parts.terms == pytest.approx((4 / np.sqrt(20), 1 / np.sqrt(2), 1 / np.sqrt(10), 1), abs=1e-6)
    assert parts.recorded == pytest.approx(moved @ other, abs=1e-6)
    assert parts.gap < 1e-5


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("pooled", ["class", "mean", "max"])
def test_each_step_is_the_whole_jacobian_times_the_move_of_a_token(pooled):
    loaded = tiny.loaded(replace(tiny.TEXT, pooling=pooled, positions="learned", norm_placement="post"))
    model, steps = loaded.model, 3

    def moves(text: str) -> np.ndarray:
        ids = torch.tensor([loaded.tokenizer.encode(text).ids])
        references = ids.clone()
        references[0, 1:-1] = 0
        with torch.no_grad():
            x, r = model.embedding(ids), model.embedding(references)

        def e(embedded: torch.Tensor) -> torch.Tensor:
            states = model.final_norm(model.run_blocks(embedded, None))[0]
            vector = {"class": states[0], "mean": states.mean(dim=0), "max": states.amax(dim=0)}[pooled]
            return vector / vector.norm()

        points = [r + (index + 0.5) / steps * (x - r) for index in range(steps)]
        jacobians = [torch.autograd.functional.jacobian(e, point)[:, 0] for point in points]
        mean = torch.stack(jacobians).double().mean(dim=0)
        return torch.einsum("dnw,nw->nd", mean, (x - r)[0].double()).numpy()

    parts = integrated_jacobians(loaded, "great film not", "films", steps=steps)
    np.testing.assert_allclose(parts.values, moves("great film not") @ moves("films").T, atol=1e-6)
    assert parts.values.shape == (5, 4)
    assert np.abs(parts.values).max() > 1e-3
    assert not parts.values[[0, -1]].any()
    assert not parts.values[:, [0, -1]].any()


@pytest.mark.slow
def test_the_four_cosines_are_those_of_texts_and_of_padding_that_is_attended_to(tmp_path):
    build_sentence_encoder(tmp_path)
    loaded = load(tmp_path)
    theirs = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()

    def directions(text: str) -> np.ndarray:
        ids = torch.tensor([loaded.tokenizer.encode(text).ids])
        references = ids.clone()
        references[0, 1:-1] = loaded.config.padding_id
        with torch.no_grad():
            both = torch.cat((ids, references))
            states = theirs(input_ids=both, attention_mask=torch.ones_like(both)).last_hidden_state
        pooled = states.mean(dim=1).double().numpy()
        return pooled / np.linalg.norm(pooled, axis=1)[:, None]

    (s_ab, s_ar), (s_rb, s_rr) = directions(A) @ directions(B).T
    parts = integrated_jacobians(loaded, A, B)
    assert parts.terms == pytest.approx((s_ab, s_rb, s_ar, s_rr), abs=1e-6)
    assert parts.recorded == pytest.approx(s_ab - s_rb - s_ar + s_rr, abs=1e-6)
    assert parts.reference == "padding"
    assert parts.gap < 1e-4


@pytest.mark.slow
def test_more_steps_come_closer(tmp_path):
    loaded = folders.encoder(tmp_path, "T5EncoderModel")
    gaps = [integrated_jacobians(loaded, A, B, steps=steps).gap for steps in (4, 16, 64)]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]


def test_by_words_the_cells_of_pieces_are_added():
    parts = integrated_jacobians(tiny.loaded(tiny.TEXT), "films not", "ab", steps=4)
    words = parts.by_word()
    assert words.rows == ("0 [CLS]", "1 films", "3 not", "4 [SEP]")
    assert words.values[1, 1] == pytest.approx(parts.values[1:3, 1:3].sum())
    assert (words.terms, words.steps) == (parts.terms, 4)


def test_of_equal_texts_the_cells_are_symmetric():
    parts = integrated_jacobians(tiny.loaded(tiny.TEXT), "great film", "great film")
    assert parts.terms[0] == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(parts.values, parts.values.T, atol=1e-7)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["CLIPTextModel", "SiglipTextModel"])
def test_without_padding_the_reference_has_zeros(architecture, tmp_path):
    loaded = folders.encoder(tmp_path, architecture)
    parts = integrated_jacobians(loaded, A, B)
    assert parts.reference == "zeros"
    assert parts.gap < 1e-4
    u, v = (capture(loaded, text).pooled for text in (A, B))
    assert parts.terms[0] == pytest.approx(u @ v / np.linalg.norm(u) / np.linalg.norm(v), abs=1e-6)


def test_nothing_is_watched_and_no_gradient_is_left(monkeypatch):
    loaded, shares = tiny.loaded(tiny.TEXT), []
    before = activations(loaded, ["great film"], ["logits"])["logits"]
    integrated_jacobians(loaded, "great film", "not", steps=2, progress=shares.append)
    assert shares == pytest.approx([2 / 6, 4 / 6, 5 / 6, 1])
    assert torch.equal(activations(loaded, ["great film"], ["logits"])["logits"], before)
    assert all(parameter.grad is None for parameter in loaded.model.parameters())
    monkeypatch.setattr("model.similarity.integrated_jacobians.batch_size", lambda *_: 1)
    one_by_one = integrated_jacobians(loaded, "great film", "not", steps=2)
    monkeypatch.undo()
    at_once = integrated_jacobians(loaded, "great film", "not", steps=2)
    np.testing.assert_allclose(one_by_one.values, at_once.values, atol=1e-7)


def refused(loaded: Loaded, a: object, b: object, reason: str, steps: int = 1) -> None:
    with pytest.raises(ValueError, match=reason):
        integrated_jacobians(loaded, a, b, steps=steps)


def test_what_has_no_line_is_refused(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    refused(loaded, "film", "not", "at least 1 step, got 0", steps=0)
    refused(loaded, "film", "", "tiny reads no word in this text")
    refused(folders.encoder(tmp_path, "ViTModel"), picture(32), picture(32), "a picture has none")
    empty = of_tokens_alone(a=np.array([1.0]))
    refused(empty, "a", "a", "makes a pooled state of length 0")
