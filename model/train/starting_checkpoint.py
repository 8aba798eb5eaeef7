"""To go on from a checkpoint: the phases that it has behind it need not be run again."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from ..checkpoint import film_arrays, load
from ..inputs.text import with_contractions
from ..loaded import Loaded
from ..transformer import Transformer
from .recipes import Recipe
from .run_state import Progress


@dataclass(frozen=True, slots=True)
class StartingCheckpoint:
    """A checkpoint that was trained by the first phases of a recipe, and its tokenizer with contractions."""

    loaded: Loaded
    tokenizer: Tokenizer
    n_phases: int

    @classmethod
    def at(cls, folder: Path, recipe: Recipe) -> "StartingCheckpoint":
        """Raises ValueError where the checkpoint was trained in another way than the recipe begins."""
        start = cls.of(folder)
        done = start.loaded.history["recipe"]["phases"]
        asked = recipe.to_json()["phases"][: len(done)]
        if len(asked) < len(done) or any(
            one.get(name, value) != value
            for one, other in zip(done, asked, strict=True)
            for name, value in other.items()
        ):
            raise ValueError(
                f"{folder} was not trained by the first phases of the recipe for {recipe.preset}"
            )
        return start

    @classmethod
    def of(cls, folder: Path) -> "StartingCheckpoint":
        loaded = load(folder, "cpu")
        return cls(loaded, with_contractions(loaded.tokenizer), len(loaded.history["recipe"]["phases"]))

    def to_json(self) -> list[dict]:
        """The checkpoints that a run went on from, the first one first, for its history."""
        known = self.loaded.history
        averaged = {"averaged": known["averaged"]} if "averaged" in known else {}
        return [*known.get("went_on_from", []), self.about() | averaged]

    def about(self) -> dict:
        """When and on what the checkpoint was trained, and how far."""
        known = self.loaded.history
        about = {name: known[name] for name in ("finished", "torch", "data") if name in known}
        return about | {"phases": self.n_phases, "vocab_size": self.loaded.config.vocab_size}

    def fill(self, model: Transformer) -> None:
        """Gives `model` the weights; a token that is new begins as the mean of what it was read as before."""
        weights = self.loaded.model.state_dict()
        n_known = len(weights["embedding.tokens.weight"])
        new = range(n_known, self.tokenizer.get_vocab_size())
        before = [self._before(self.tokenizer.id_to_token(number)) for number in new]
        for name in ("embedding.tokens.weight", "masked_token_output.bias"):
            means = [weights[name][ids].mean(dim=0, keepdim=True) for ids in before]
            weights[name] = torch.cat([weights[name], *means])
        model.load_state_dict(weights)

    def _before(self, contraction: str) -> list[int]:
        means = {"n't": "not", "can't": "can not", "won't": "will not", "ain't": "is not"}
        text = means.get(contraction, contraction)
        return self.loaded.tokenizer.encode(text, add_special_tokens=False).ids

    def progress(self, recipe: dict) -> Progress:
        """What the checkpoint recorded, as that of a run with these phases behind it."""
        history, film = self.loaded.history, film_arrays(self.loaded.folder)
        return Progress(
            recipe=recipe,
            phase=self.n_phases,
            log=list(history["log"]),
            evaluations=list(history["evaluations"]),
            film=film and as_tensors(film),
        )


def as_tensors(film: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(values) for name, values in film.items()}
