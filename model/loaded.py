"""`Loaded`: an encoder in memory, with its tokenizer and training history."""

from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer

from .config import ModelConfig
from .transformer import Transformer


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A trained encoder in memory, with its name, tokenizer and training history.

    It is shared between threads and must not be changed.
    """

    name: str
    model: Transformer
    tokenizer: Tokenizer | None
    history: dict
    device: torch.device
    folder: Path | None = None  # where it was read; None where it comes from elsewhere
    notes: tuple[str, ...] = ()  # sentences: where its own library makes something else of the same files
    n_stored: int | None = None  # parameters in the files of an encoder of another family

    def __repr__(self) -> str:
        config, input_kind = self.config, "text" if self.config.is_text else "picture"
        heads = f"{config.n_layers} layers × {config.n_heads} heads"
        return f"Loaded({self.name!r}, {input_kind} encoder, {heads}, {self.n_parameters:,} parameters, {self.device})"

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    @property
    def n_parameters(self) -> int:
        """Learned numbers of the encoder, each once, as its own library counts them."""
        if self.n_stored is not None:
            return self.n_stored
        return sum(parameter.numel() for parameter in self.model.parameters())
