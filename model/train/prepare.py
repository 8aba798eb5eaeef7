"""Prepares the data and tasks of a recipe."""

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
    recipe: Recipe,
    data: Path,
    runs: Path,
    device: torch.device,
    start: Path | None = None,
) -> TrainingSetup:
    """The data, tasks and files of a training run by a recipe.

    `data` is the folder of the data sets, `runs` the folder of the run's state, and `start` that of a checkpoint to train
    further.
    """
    config, tokenizer, start_checkpoint = preset(recipe.preset), None, None
    if start is not None:
        start_checkpoint = StartingCheckpoint.for_recipe(start, recipe)
        tokenizer = start_checkpoint.tokenizer
        config = replace(config, vocab_size=tokenizer.get_vocab_size())
    elif not config.is_text:
        return prepare_digits(config, data, runs, device, holds_out=recipe.holds_out)
    elif not config.masked_token_output:
        return prepare_words(config, data, runs, device)
    setup = prepare_reviews(config, data, runs, device, tokenizer)
    return replace(setup, start=start_checkpoint)
