"""Prepares the data and tasks of a recipe."""

from dataclasses import replace
from pathlib import Path

import torch

from ..config import preset
from .prepare_digits import prepare_digits
from .prepare_reviews import prepare_reviews, prepare_words
from .prepare_taught import TAUGHT, prepare_taught
from .recipes import Recipe
from .starting_checkpoint import StartingCheckpoint
from .training_setup import TrainingSetup


def prepare(
    recipe: Recipe,
    data: Path,
    runs: Path,
    device: torch.device,
    start: Path | None = None,
    teacher: Path | None = None,
) -> TrainingSetup:
    """The data, tasks and files of a training run by a recipe.

    `data` is the folder of the data sets, `runs` the folder of the run's state, `start` that of a checkpoint to train
    further, and `teacher` that of the imported encoder that was fine-tuned as a teacher. Raises ValueError if the recipe
    needs a teacher and there is none.
    """
    config, tokenizer, start_checkpoint, n_finished = preset(recipe.preset), None, None, 0
    if start is not None:
        start_checkpoint = StartingCheckpoint.for_recipe(start, recipe)
        tokenizer, n_finished = start_checkpoint.tokenizer, start_checkpoint.n_phases
        config = replace(config, vocab_size=tokenizer.get_vocab_size())
    elif not config.is_text:
        return prepare_digits(config, data, runs, device, holds_out=recipe.holds_out)
    elif not config.masked_token_output:
        return prepare_words(config, data, runs, device)
    missing = {phase.task for phase in recipe.phases[n_finished:]}
    if TAUGHT in missing and teacher is None:
        raise ValueError(
            f"the phase {TAUGHT!r} needs --teacher, the folder of the encoder that was fine-tuned"
        )
    setup = None
    if tokenizer is None or missing - {TAUGHT}:
        setup = prepare_reviews(config, data, runs, device, tokenizer)
        tokenizer = setup.tokenizer
    if teacher is not None and TAUGHT in missing:
        assert tokenizer is not None, "encoders of reviews have a tokenizer"
        taught = prepare_taught(config, data, runs, device, tokenizer, teacher)
        setup = taught if setup is None else replace(taught, tasks={**setup.tasks, **taught.tasks})
    assert setup is not None, "a recipe has at least one phase"
    return replace(setup, start=start_checkpoint)
