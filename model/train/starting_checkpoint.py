"""Checkpoints that a run trains further, so that the phases that trained them need not be repeated."""

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer

from ..checkpoint import load, recording_arrays
from ..inputs.text import with_contractions
from ..loaded import Loaded
from ..transformer import Transformer
from .recipes import Recipe
from .run_state import Progress
from .snapshot import Snapshots


@dataclass(frozen=True, slots=True)
class StartingCheckpoint:
    """A checkpoint that is trained further, and its tokenizer, to which contractions such as "n't" are added as tokens."""

    loaded: Loaded
    tokenizer: Tokenizer
    n_phases: int

    @classmethod
    def for_recipe(cls, folder: Path, recipe: Recipe) -> "StartingCheckpoint":
        """The checkpoint in `folder`. Raises ValueError if it was not trained by the first phases of `recipe`."""
        start = cls.load(folder)
        finished_phases = start.loaded.history["recipe"]["phases"]
        expected_phases = asdict(recipe)["phases"][: len(finished_phases)]
        if len(expected_phases) < len(finished_phases) or any(
            finished_phase.get(name, value) != value
            for finished_phase, expected_phase in zip(finished_phases, expected_phases, strict=True)
            for name, value in expected_phase.items()
        ):
            raise ValueError(
                f"{folder} was not trained by the first phases of the recipe for {recipe.preset}"
            )
        return start

    @classmethod
    def load(cls, folder: Path) -> "StartingCheckpoint":
        """The checkpoint in `folder`, trained by any recipe. Raises ValueError if it does not read text."""
        loaded = load(folder, "cpu")
        if loaded.tokenizer is None:
            raise ValueError(f"{folder} reads no text: its training cannot be continued")
        return cls(loaded, with_contractions(loaded.tokenizer), len(loaded.history["recipe"]["phases"]))

    def to_json(self) -> list[dict]:
        """Descriptions, for the history of the new checkpoint, of all checkpoints that led to it, the earliest first."""
        history = self.loaded.history
        averaged = {"averaged": history["averaged"]} if "averaged" in history else {}
        return [*history.get("went_on_from", []), self.description() | averaged]

    def description(self) -> dict:
        """Date and data of the checkpoint's training, its number of phases and its vocabulary size, by name."""
        history = self.loaded.history
        description = {name: history[name] for name in ("finished", "torch", "data") if name in history}
        return description | {"phases": self.n_phases, "vocab_size": self.loaded.config.vocab_size}

    def fill(self, model: Transformer) -> None:
        """Copies the checkpoint's weights into `model`, whose vocabulary has the added contractions as well.

        The embedding of an added token is the mean of those of the tokens into which the checkpoint's own tokenizer splits it.
        """
        weights = self.loaded.model.state_dict()
        n_known = len(weights["embedding.tokens.weight"])
        new_ids = range(n_known, self.tokenizer.get_vocab_size())
        former_ids = [
            self._ids_without_contractions(self.tokenizer.id_to_token(token_id) or "") for token_id in new_ids
        ]
        for name in ("embedding.tokens.weight", "masked_token_output.bias"):
            rows = [weights[name][ids].mean(dim=0, keepdim=True) for ids in former_ids]
            weights[name] = torch.cat([weights[name], *rows])
        model.load_state_dict(weights)

    def _ids_without_contractions(self, contraction: str) -> list[int]:
        """Ids of the tokens into which the checkpoint's own tokenizer splits this contraction."""
        spelled_out = {"n't": "not", "can't": "can not", "won't": "will not", "ain't": "is not"}
        text = spelled_out.get(contraction, contraction)
        assert self.loaded.tokenizer is not None  # `load` refuses a checkpoint without one
        return self.loaded.tokenizer.encode(text, add_special_tokens=False).ids

    def progress(self, recipe: dict) -> Progress:
        """Progress of a run by `recipe` that has finished the phases of this checkpoint."""
        history = self.loaded.history
        return Progress(
            recipe=recipe,
            phase=self.n_phases,
            log=list(history["log"]),
            evaluations=list(history["evaluations"]),
            film=self.film(),
        )

    def film(self) -> Snapshots | None:
        """Snapshots of the checkpoint's training; None if it has none."""
        arrays = recording_arrays(self.loaded.folder) if self.loaded.folder else None
        return None if arrays is None else {name: torch.from_numpy(array) for name, array in arrays.items()}
