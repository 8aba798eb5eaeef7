import json
from dataclasses import asdict, replace

import pytest
import torch

from model.checkpoint import save
from model.inputs.text import train_tokenizer
from model.train.recipes import Phase, Recipe
from model.train.starting_checkpoint import StartingCheckpoint
from model.transformer import Transformer
from tests.model import tiny

PHASE = Phase(task="sentiment", epochs=1, batch_size=2, learning_rate=1e-3)
RECIPE = Recipe(preset="imdb-pre-ln", phases=(PHASE, replace(PHASE, task="sentences")))


@pytest.fixture
def checkpoint(tmp_path):
    """Trained by the recipe's first phase, with a tokenizer that has no contractions of its own."""
    tokenizer = train_tokenizer(
        ["it is n ' t a good film", "not bad , can will"], vocab_size=60, n_positions=12
    )
    config = replace(tiny.TEXT, vocab_size=tokenizer.get_vocab_size(), masked_token_output=True)
    recipe = asdict(replace(RECIPE, phases=RECIPE.phases[:1]))
    rows = [{"phase": 0, "step": 0, "loss": 1.5}]
    history = {"recipe": recipe, "finished": "2026-01-01", "log": rows, "evaluations": []}
    save(tmp_path / "begun", tiny.build(config), history, tokenizer)
    return tmp_path / "begun"


def test_known_tokens_keep_their_weights_and_new_ones_begin_as_what_they_were_read_as(checkpoint):
    start = StartingCheckpoint.for_recipe(checkpoint, RECIPE)
    old = start.loaded.model
    model = Transformer(replace(old.config, vocab_size=start.tokenizer.get_vocab_size()))
    start.fill(model)
    n_known = old.config.vocab_size
    for name, value in old.state_dict().items():
        assert torch.equal(model.state_dict()[name][: len(value)], value)
    table = model.embedding.tokens.weight
    assert len(table) == n_known + 10
    number = {token: start.tokenizer.token_to_id(token) for token in ("n't", "not", "can", "can't")}
    torch.testing.assert_close(table[number["n't"]], table[number["not"]])
    torch.testing.assert_close(table[number["can't"]], (table[number["can"]] + table[number["not"]]) / 2)


def test_a_run_goes_on_with_the_next_phase_and_what_was_recorded(checkpoint):
    progress = StartingCheckpoint.for_recipe(checkpoint, RECIPE).progress({"preset": "imdb-pre-ln"})
    assert (progress.phase, progress.step, progress.film) == (1, 0, None)
    assert progress.log == [{"phase": 0, "step": 0, "loss": 1.5}]


def test_the_history_says_whence_a_run_went_on(checkpoint):
    history = StartingCheckpoint.for_recipe(checkpoint, RECIPE).to_json()
    assert json.loads(json.dumps(history)) == history
    assert [(one["finished"], one["phases"]) for one in history] == [("2026-01-01", 1)]


@pytest.mark.parametrize("changed", [{"epochs": 2}, {"task": "true labels"}])
def test_a_checkpoint_of_another_recipe_is_refused(checkpoint, changed):
    other = replace(RECIPE, phases=(replace(PHASE, **changed), RECIPE.phases[1]))
    with pytest.raises(ValueError, match="was not trained by the first phases of the recipe for imdb-pre-ln"):
        StartingCheckpoint.for_recipe(checkpoint, other)


def test_a_checkpoint_with_more_phases_than_the_recipe_is_refused(checkpoint):
    with pytest.raises(ValueError, match="was not trained by the first phases"):
        StartingCheckpoint.for_recipe(checkpoint, replace(RECIPE, phases=()))
