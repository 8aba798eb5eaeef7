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
    recipe: Recipe, data: Path, runs: Path, device: torch.device, start: Path | None = None
) -> TrainingSetup:
    """The data, tasks and files of a training run by a recipe.

    `data` is the folder of the data sets, `runs` the folder of the run's state, and `start` that of a checkpoint to train
    further.
    """
    config = preset(recipe.preset)
    if start is not None:
        start_checkpoint = StartingCheckpoint.for_recipe(start, recipe)
        config = replace(config, vocab_size=start_checkpoint.tokenizer.get_vocab_size())
        setup = prepare_reviews(config, data, runs, device, start_checkpoint.tokenizer)
        return replace(setup, start=start_checkpoint)
    if not config.is_text:
        return prepare_digits(config, data, runs, device, holds_out=recipe.holds_out)
    prepare_texts = prepare_reviews if config.masked_token_output else prepare_words
    return prepare_texts(config, data, runs, device)
