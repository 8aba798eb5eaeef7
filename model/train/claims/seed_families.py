"""Trained encoders that differ only in norm placement, grouped by seed, and the held-out examples on which they are measured."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ... import checkpoint
from ...inputs import InputLike
from ...inputs.digits import examples
from ...loaded import Loaded
from ...sources.names import group_by_seed, split_seed
from ..datasets import phrases
from ..prepare_sentences import development_sentences

# Name of the encoders on the page, by the beginning of their checkpoints' names.
ENCODER_NAMES = {"sentences": "small text encoders", "mnist": "digit encoders", "imdb": "review encoders"}
N_EXAMPLES = 256  # examples for states, patterns and gradients


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Held-out inputs with their class indices; `of` is the name of the examples on the page, such as "test digits"."""

    inputs: tuple[InputLike, ...]
    labels: tuple[int, ...]
    of: str

    def subset(self, n: int) -> "HeldOut":
        """A selection of `n` of the examples, evenly spaced."""
        indices = np.unique(np.linspace(0, len(self.inputs) - 1, n).round().astype(int)).tolist()
        inputs, labels = (tuple(values[index] for index in indices) for values in (self.inputs, self.labels))
        return HeldOut(inputs=inputs, labels=labels, of=self.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFamily:
    """Encoders that differ only in norm placement and seed; `pre[i]` (pre-LN) and `post[i]` (post-LN) have the seed `seeds[i]`."""

    where: str  # what the encoders are called on the page
    seeds: tuple[int, ...]
    pre: tuple[Loaded, ...]
    post: tuple[Loaded, ...]

    @property
    def optimizer(self) -> str | None:
        """Optimiser of the blocks' matrices, such as "adamw" or "muon"; None if the training history does not name it."""
        phases = self.pre[0].history.get("recipe", {}).get("phases", [])
        optimizers = {phase.get("optimizer", "adamw") for phase in phases}
        return " and ".join(sorted(optimizers, reverse=True)) or None


def load_families() -> list[SeedFamily]:
    """Loads all checkpoints that exist in both norm placements, grouped by data set, for the seeds that both have."""
    seeds_by_name = group_by_seed(checkpoint.available())
    families = []
    for name, encoders in ENCODER_NAMES.items():
        pre, post = (
            {
                split_seed(checkpoint_name)[1]: checkpoint_name
                for checkpoint_name in seeds_by_name.get(f"{name}-{placement}-ln", [])
            }
            for placement in ("pre", "post")
        )
        seeds = tuple(sorted(pre.keys() & post.keys()))
        if seeds:
            names_by_placement = {"pre": pre, "post": post}
            encoders_by_placement = {
                placement: tuple(checkpoint.load(names[seed], "cpu") for seed in seeds)
                for placement, names in names_by_placement.items()
            }
            families.append(SeedFamily(where=encoders, seeds=seeds, **encoders_by_placement))
    return families


def held_out(loaded: Loaded, folder: Path) -> HeldOut:
    """Held-out inputs for an encoder: non-neutral development sentences of the treebank in `folder`, or MNIST test digits."""
    if loaded.config.is_text:
        sentences = development_sentences(phrases(folder))
        return HeldOut(
            inputs=tuple(sentences.text), labels=tuple(sentences.label.tolist()), of="held-out sentences"
        )
    images, labels = examples()
    return HeldOut(inputs=tuple(images), labels=tuple(labels.tolist()), of="test digits")
