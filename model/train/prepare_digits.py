"""MNIST's training digits, the last 2,500 held out or, for a recipe that wants all of them, none."""

from pathlib import Path

import torch

from ..config import ModelConfig
from ..inputs.digits import examples, read_mnist, to_input, to_labels
from .datasets import mnist_folder
from .task_digits import Digits
from .training_setup import TrainingSetup

HELD_OUT = 2500  # or a tenth, of less than 25,000
PROBES = (3, 18)  # test digits by index: a plain 0, and a 3 that is easily misread


def prepare_digits(
    config: ModelConfig, data: Path, runs: Path, device: torch.device, *, holds_out: bool = True
) -> TrainingSetup:
    """Where nothing is held out, what is recorded on the way is of training digits, and the data say so."""
    images, labels = read_mnist(mnist_folder(data), "train")
    images, labels = to_input(images, config), to_labels(labels)
    n = len(labels) - min(HELD_OUT, len(labels) // 10)
    n_learned = n if holds_out else len(labels)
    parts = (images[:n_learned], labels[:n_learned]), (images[n:], labels[n:])
    probes = examples()[0]
    return TrainingSetup(
        config=config,
        tasks={
            "digits": Digits(*parts, strength=1.0),
            "gently changed digits": Digits(*parts, strength=0.5),
            "unchanged digits": Digits(*parts, strength=0.0, label_smoothing=0.0, drop_last=False),
        },
        probes=[probes[index] for index in PROBES],
        probe_names=[f"test digit {index}" for index in PROBES],
        tokenizer=None,
        data={"name": "MNIST", "train": n_learned, "held_out": len(labels) - n_learned},
        state=runs / "state.safetensors",
        device=device,
    )
