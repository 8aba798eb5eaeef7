"""Prepares the data and tasks of a recipe; of MNIST's training digits the last 2,500 are held out, unless it trains on all digits."""

from dataclasses import replace
from pathlib import Path

import torch

from ..config import ModelConfig, preset
from ..inputs.digits import examples, read_mnist, to_input, to_labels
from .datasets import mnist_folder
from .prepare_reviews import prepare_reviews, prepare_words
from .recipes import Recipe
from .starting_checkpoint import StartingCheckpoint
from .task_digits import Digits
from .training_setup import TrainingSetup

HELD_OUT = 2500  # or a tenth of fewer than 25,000 digits
PROBES = (3, 18)  # test digits by index: a plain 0, and a 3 that is easily misread


def prepare_digits(
    config: ModelConfig, data: Path, runs: Path, device: torch.device, *, holds_out: bool = True
) -> TrainingSetup:
    """Setup with the training tasks on digits; `data` is the folder of the data sets, `runs` that of the run's state.

    If nothing is held out, evaluations use training digits, and the field `data` states 0 held-out digits.
    """
    pixels, classes = read_mnist(mnist_folder(data), "train")
    images, labels = to_input(pixels, config), to_labels(classes)
    n_before_held_out = len(labels) - min(HELD_OUT, len(labels) // 10)
    n_learned = n_before_held_out if holds_out else len(labels)
    digits = (
        (images[:n_learned], labels[:n_learned]),
        (images[n_before_held_out:], labels[n_before_held_out:]),
    )
    probes = examples()[0]
    return TrainingSetup(
        config=config,
        tasks={
            "digits": Digits(*digits, strength=1.0),
            "gently changed digits": Digits(*digits, strength=0.5),
            "unchanged digits": Digits(*digits, strength=0.0, label_smoothing=0.0, drop_last=False),
        },
        probes=[probes[index] for index in PROBES],
        probe_names=[f"test digit {index}" for index in PROBES],
        tokenizer=None,
        data={"name": "MNIST", "train": n_learned, "held_out": len(labels) - n_learned},
        state=runs / "state.safetensors",
        device=device,
    )


def prepare(
    recipe: Recipe,
    data: Path,
    runs: Path,
    device: torch.device,
    start: Path | None = None,
) -> TrainingSetup:
    """The data, tasks and files of a training run by a recipe.

    `data` is the folder of the data sets, `runs` the folder for states of training runs, and `start` the folder of a checkpoint
    to train further.
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
