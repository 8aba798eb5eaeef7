"""Trained encoders that differ in the placement of the norm alone, by seed, and the examples that they are measured on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from .. import checkpoint
from ..checkpoint.seeds import by_seed, seed_of
from ..inputs import InputLike
from ..inputs.digits import examples
from ..loaded import Loaded
from ..train.datasets import phrases
from ..train.prepare_sentences import development_sentences

# By what their checkpoints are called: how the page says which encoders they are.
ENCODER_NAMES = {"sentences": "small text encoders", "mnist": "digit encoders", "imdb": "review encoders"}
N_EXAMPLES = 256  # of which states, patterns and gradients are measured
AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Held-out inputs, the class that is right for each, and what they are called."""

    inputs: tuple[InputLike, ...]
    labels: tuple[int, ...]
    of: str

    def some(self, n: int) -> "HeldOut":
        """As many, spread evenly."""
        places = np.unique(np.linspace(0, len(self.inputs) - 1, n).round().astype(int)).tolist()
        inputs, labels = (tuple(values[place] for place in places) for values in (self.inputs, self.labels))
        return HeldOut(inputs=inputs, labels=labels, of=self.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFamily:
    """Pairs of encoders; `pre[i]` and `post[i]` are of `seeds[i]`."""

    where: str
    seeds: tuple[int, ...]
    pre: tuple[Loaded, ...]
    post: tuple[Loaded, ...]

    @property
    def optimizer(self) -> str | None:
        """With which the matrices of the blocks were trained, "adamw" or "muon"; None where nobody wrote it down."""
        phases = self.pre[0].history.get("recipe", {}).get("phases", [])
        used = {phase.get("optimizer", "adamw") for phase in phases}
        return " and ".join(sorted(used, reverse=True)) or None


def load_families() -> list[SeedFamily]:
    """Of the checkpoints that are there, those of each name that both placements have."""
    known = by_seed(checkpoint.available())
    found = []
    for name, where in ENCODER_NAMES.items():
        pre, post = (
            {seed_of(each)[1]: each for each in known.get(f"{name}-{placement}-ln", [])}
            for placement in ("pre", "post")
        )
        seeds = tuple(sorted(pre.keys() & post.keys()))
        if seeds:
            pairs = {"pre": pre, "post": post}
            loaded = {
                placement: tuple(checkpoint.load(names[seed], "cpu") for seed in seeds)
                for placement, names in pairs.items()
            }
            found.append(SeedFamily(where=where, seeds=seeds, **loaded))
    return found


def held_out(loaded: Loaded, folder: Path) -> HeldOut:
    """The treebank's development sentences that are not neutral, from `folder`, or the MNIST test digits."""
    if loaded.config.is_text:
        own = development_sentences(phrases(folder))
        return HeldOut(inputs=tuple(own.text), labels=tuple(own.label.tolist()), of="held-out sentences")
    images, labels = examples()
    return HeldOut(inputs=tuple(images), labels=tuple(labels.tolist()), of="test digits")


def batches(loaded: Loaded, inputs: Sequence[InputLike]) -> Iterator[list[int]]:
    """Which of the inputs go through the encoder together: those of one length, so that nothing is padded."""

    def length(place: int) -> int:
        return len(loaded.tokenizer.encode(inputs[place]).ids) if loaded.tokenizer else 0

    lengths = {place: length(place) for place in range(len(inputs))}
    for _, same in groupby(sorted(lengths, key=lengths.get), key=lengths.get):
        places = list(same)
        for start in range(0, len(places), AT_ONCE):
            yield places[start : start + AT_ONCE]
