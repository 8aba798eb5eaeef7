"""Inputs of an encoder, `Text` or `Picture`, and `prepare`, which converts them to the encoder's input tensor."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from ..config import ModelConfig
from ..loaded import Loaded
from ..record import Positions, Role
from ..record.from_arrays import check_picture
from .digits import to_input
from .picture_file import resized
from .text import CLASS, encode


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or a pair of texts."""

    text: str
    second: str | None = None  # for encoders of pairs: the other part, behind a separator


@dataclass(frozen=True, slots=True)
class Picture:
    """Grey or RGB picture of any height and width, as hashable values; `Picture.of(array)` makes one."""

    content: bytes  # row by row, the colours of a pixel beside each other
    shape: tuple[int, ...]  # (height, width), or (height, width, 3)

    @classmethod
    def of(cls, array: np.ndarray) -> "Picture":
        """A picture from a uint8 array [height, width] or [height, width, 3]. Raises ValueError for any other array."""
        check_picture(array)
        return cls(array.tobytes(), array.shape)

    @property
    def array(self) -> UInt8[np.ndarray, "height width *colour"]:
        """The pixels as a read-only array."""
        return np.frombuffer(self.content, np.uint8).reshape(self.shape)


Input = Text | Picture
InputLike = str | np.ndarray | Input  # what `as_input` makes one of


def as_input(model_input: InputLike) -> Input:
    """Converts a string to `Text` and an array to `Picture`. Raises ValueError for an array that is not a picture."""
    if isinstance(model_input, str):
        return Text(model_input)
    return Picture.of(model_input) if isinstance(model_input, np.ndarray) else model_input


def reads_pairs(loaded: Loaded) -> bool:
    """Whether the encoder reads pairs of texts; if so, its tokenizer adds special tokens to a pair."""
    if not loaded.config.is_imported or loaded.tokenizer is None:
        return False
    if loaded.config.family.pools_token is not None:  # of one text
        return False
    n_special_single, n_special_pair = (
        loaded.tokenizer.num_special_tokens_to_add(is_pair) for is_pair in (False, True)
    )
    return n_special_pair >= n_special_single


def prepare(loaded: Loaded, model_input: InputLike) -> tuple[Tensor, Positions]:
    """Input tensor of the encoder (a batch of one, on its device), and the tokens and roles of its positions.

    Raises ValueError for a picture given to a text encoder or the reverse, for two texts if the encoder reads only one, and
    for a text without tokens.
    """
    model_input, config = as_input(model_input), loaded.config
    if config.is_text != isinstance(model_input, Text):
        expected_kind, given_kind = ("text", "a picture") if config.is_text else ("pictures", "text")
        raise ValueError(f"{loaded.name} takes {expected_kind}, got {given_kind}")
    if isinstance(model_input, Picture):
        return to_input(model_input.array[None], config).to(loaded.device), _patch_positions(config)
    if model_input.second is not None and not reads_pairs(loaded):
        raise ValueError(f"{loaded.name} reads one text, got two: it was not made for pairs of texts")
    assert loaded.tokenizer is not None
    assert config.vocab_size is not None
    encoded = encode(loaded.tokenizer, model_input.text, config.padding_id, model_input.second)
    if not encoded.ids:
        raise ValueError(f"{loaded.name} finds no token in this text")
    n_types = config.family.n_token_types
    if len(encoded.ids) > config.n_positions or max(encoded.ids) >= config.vocab_size:
        token_description = f"{len(encoded.ids)} tokens, numbered up to {max(encoded.ids)}"
        raise ValueError(
            f"the tokenizer makes {token_description}, of this text, for which {loaded.name} has no place"
        )
    if n_types > 1 and max(encoded.types) >= n_types:
        raise ValueError(
            f"the tokenizer numbers parts up to {max(encoded.types)}, {loaded.name} knows {n_types}"
        )
    ids = torch.tensor([encoded.ids], device=loaded.device)
    if n_types > 1:  # ids of the second text are numbered vocab_size higher
        ids += config.vocab_size * torch.tensor([encoded.types], device=loaded.device)
    if config.family.parts.causal:  # the first token sees nothing else, so it cannot stand for the whole
        encoded = replace(
            encoded, roles=tuple("special" if role == "class" else role for role in encoded.roles)
        )
    return ids, encoded


def preprocessed_picture(
    picture: UInt8[np.ndarray, "height width *colour"], record: Positions
) -> UInt8[np.ndarray, "..."]:
    """The picture as the encoder cuts it into patches: for imported encoders resized and cropped, otherwise unchanged."""
    config = getattr(record, "config", None)
    if config is None or not config.is_imported:
        return picture
    return (resized(picture, config) * 255).round().astype(np.uint8)


def _patch_positions(config: ModelConfig) -> Positions:
    assert config.patch_grid is not None
    rows, columns = config.patch_grid
    n_registers = config.family.n_registers
    n_special = config.n_before_patches - n_registers
    tokens = [CLASS, "[DIST]"][:n_special] + [f"[register {index + 1}]" for index in range(n_registers)]
    special_roles: list[Role] = ["class", "special"]
    roles: list[Role] = special_roles[:n_special] + ["register"] * n_registers + ["patch"] * (rows * columns)
    tokens += [f"r{row}c{column}" for row in range(rows) for column in range(columns)]
    return Positions(tokens=tuple(tokens), roles=tuple(roles), patch_grid=config.patch_grid)
