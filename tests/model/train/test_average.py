from dataclasses import replace

import pytest
import torch

from model.checkpoint import load, save
from model.inputs.text import train_tokenizer
from model.train.average import average
from model.train.starting_checkpoint import StartingCheckpoint
from tests.model import tiny

HISTORY = {
    "recipe": {"phases": [{"task": "sentiment"}]},
    "finished": "2026-01-01",
    "log": [],
    "evaluations": [],
}


@pytest.fixture
def encoders(tmp_path):
    """Two of one size with other weights; a third without the tokens that the first two have for contractions."""
    old = train_tokenizer(["it is n ' t a good film", "not bad , can will"], vocab_size=60, n_positions=12)
    folders = {}
    for seed, name in enumerate(("first", "second", "third")):
        config = replace(tiny.TEXT, vocab_size=old.get_vocab_size(), masked_token_output=True)
        save(tmp_path / name, tiny.build(config, seed=seed), HISTORY, old)
        folders[name] = tmp_path / name
    grown = StartingCheckpoint.load(folders["third"]).tokenizer
    for seed, name in enumerate(("first", "second")):
        config = replace(tiny.TEXT, vocab_size=grown.get_vocab_size(), masked_token_output=True)
        save(tmp_path / name, tiny.build(config, seed=seed), HISTORY, grown)
    return folders


def test_each_weight_is_the_mean_by_share(encoders, tmp_path):
    average({encoders["first"]: 0.75, encoders["second"]: 0.25}, tmp_path / "mean")
    mean, one, other = (
        load(folder, "cpu").model.state_dict()
        for folder in (tmp_path / "mean", encoders["first"], encoders["second"])
    )
    assert any((one[name] != other[name]).any() for name in one)
    for name in one:
        torch.testing.assert_close(mean[name], 0.75 * one[name] + 0.25 * other[name], atol=2e-3, rtol=2e-3)


def test_an_encoder_without_the_last_tokens_gives_what_it_read_them_as_and_the_history_says_so(
    encoders, tmp_path
):
    average({encoders["first"]: 0.5, encoders["third"]: 0.5}, tmp_path / "mean")
    mean = load(tmp_path / "mean", "cpu")
    number = mean.tokenizer.token_to_id
    tables = [load(encoders[name], "cpu").model.embedding.tokens.weight for name in ("first", "third")]
    expected = (tables[0][number("n't")] + tables[1][number("not")]) / 2
    torch.testing.assert_close(
        mean.model.embedding.tokens.weight[number("n't")], expected, atol=2e-3, rtol=2e-3
    )
    averaged = load(tmp_path / "mean", "cpu").history["averaged"]
    assert [(one["share"], one["phases"]) for one in averaged] == [(0.5, 1), (0.5, 1)]
    assert StartingCheckpoint.load(tmp_path / "mean").to_json()[-1]["averaged"] == averaged


def test_shares_add_up_to_one(encoders, tmp_path):
    with pytest.raises(ValueError, match=r"add up to 0\.9"):
        average({encoders["first"]: 0.5, encoders["second"]: 0.4}, tmp_path / "mean")


def test_encoders_of_other_sizes_have_no_mean(encoders, tmp_path):
    tokenizer = StartingCheckpoint.load(encoders["third"]).loaded.tokenizer
    config = replace(tiny.TEXT, vocab_size=tokenizer.get_vocab_size(), n_layers=1, masked_token_output=True)
    save(tmp_path / "other", tiny.build(config), HISTORY, tokenizer)
    with pytest.raises(ValueError, match="another size"):
        average({encoders["third"]: 0.5, tmp_path / "other": 0.5}, tmp_path / "mean")
