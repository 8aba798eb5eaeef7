"""From a recipe and a data folder to what the loop needs."""

from dataclasses import replace
from pathlib import Path

import torch

from ..config import preset
from .prepare_digits import prepare_digits
from .prepare_reviews import prepare_reviews, prepare_words
from .recipes import Recipe
from .starting_checkpoint import StartingCheckpoint
from .training_setup import TrainingSetup


def prepare(
    recipe: Recipe, data: Path, runs: Path, device: torch.device, start: Path | None = None
) -> TrainingSetup:
    """`data` is the folder of the data sets, `runs` that of the run's own state, `start` a checkpoint to go on from."""
    config = preset(recipe.preset)
    if start is not None:
        begun = StartingCheckpoint.at(start, recipe)
        config = replace(config, vocab_size=begun.tokenizer.get_vocab_size())
        setting = prepare_reviews(config, data, runs, device, begun.tokenizer)
        return replace(setting, start=begun)
    if not config.is_text:
        return prepare_digits(config, data, runs, device, holds_out=recipe.holds_out)
    make = prepare_reviews if config.masked_token_output else prepare_words
    return make(config, data, runs, device)
