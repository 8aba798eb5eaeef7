from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.experiments.masked_tokens import guesses
from model.experiments.masked_word import MaskedWord, masked_word
from model.experiments.masked_word_by_layer import masked_word_by_layer
from tests.model import tiny
from tests.model.huggingface.folders import build

TEXT = "the film is [MASK] bad ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("masked")
    return path, build(path, "BertForMaskedLM")


def test_the_last_layer_is_the_prediction_and_each_layer_is_as_transformers_says(folder):
    loaded, theirs = load(folder[0]), folder[1]
    word = masked_word(loaded, TEXT, "bad")
    stages = masked_word_by_layer(loaded, TEXT, word, n=5)
    assert [stage.stage for stage in stages] == ["embed", "L0 post", "L1 post", "L2 post"]
    (expected,) = guesses(loaded, TEXT, n=5).values()
    assert [guess.token for guess in stages[-1].guesses] == [guess.token for guess in expected]
    np.testing.assert_allclose(
        [guess.probability for guess in stages[-1].guesses],
        [guess.probability for guess in expected],
        rtol=1e-5,
    )
    ids = torch.tensor([loaded.tokenizer.encode(TEXT).ids])
    with torch.inference_mode():
        states = theirs(input_ids=ids, output_hidden_states=True).hidden_states
        for stage, hidden in zip(stages, states, strict=True):
            row = theirs.cls(hidden[0, word.position]).log_softmax(dim=-1)
            assert stage.log_probability == pytest.approx(float(row[word.token_id]), abs=1e-5)
            assert stage.rank == 1 + row.argsort(descending=True).tolist().index(word.token_id)
            best = row.argsort(descending=True)[:5].tolist()
            assert [guess.token_id for guess in stage.guesses] == best


def test_a_pre_ln_encoder_passes_its_final_norm():
    loaded = tiny.loaded(replace(tiny.TEXT, masked_token_output=True))
    text, word = "not [MASK] film", MaskedWord(2, 40)
    residual = capture(loaded, text).residual[::2, 2]  # embed, L0 post, L1 post
    norm = loaded.model.final_norm
    centred = residual - residual.mean(axis=-1, keepdims=True)
    normal = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + norm.eps)
    states = normal * norm.weight.detach().numpy() + norm.bias.detach().numpy()
    with torch.inference_mode():
        rows = loaded.model.predict_tokens(torch.tensor(states)).log_softmax(dim=-1)
    stages = masked_word_by_layer(loaded, text, word)
    np.testing.assert_allclose([stage.log_probability for stage in stages], rows[:, 40], rtol=1e-4)


def test_other_positions_are_refused(folder):
    with pytest.raises(ValueError, match=r"position 1 holds no \[MASK\]"):
        masked_word_by_layer(load(folder[0]), TEXT, MaskedWord(1, 7))
