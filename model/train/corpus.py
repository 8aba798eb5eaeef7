"""Reviews as token ids: one flat array for all of them, and batches of similar length."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Corpus:
    """Token ids without special tokens; review i is `ids[starts[i]:starts[i + 1]]`."""

    ids: Int[np.ndarray, " token"]
    starts: Int[np.ndarray, " review_and_end"]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int | np.integer) -> Int[np.ndarray, " token"]:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    @property
    def lengths(self) -> Int[np.ndarray, " review"]:
        return np.diff(self.starts)

    def pieces(self, shortest: int, longest: int) -> "Corpus":
        """Every review cut into pieces of random lengths between these two; what is over is one of its own."""
        random = np.random.default_rng(0)
        starts = [0]
        for end in self.starts[1:]:
            while (start := starts[-1] + int(random.integers(shortest, longest + 1))) < end:
                starts.append(start)
            starts.append(int(end))
        return Corpus(self.ids, np.array(starts))

    def save(self, path: Path) -> None:
        save_file({"ids": self.ids, "starts": self.starts}, path)

    @classmethod
    def read(cls, path: Path) -> "Corpus":
        return cls(**load_file(path))


def tokenize(tokenizer: Tokenizer, texts: list[str]) -> Corpus:
    whole = Tokenizer.from_str(tokenizer.to_str())
    whole.no_truncation()
    parts = []
    for start in range(0, len(texts), 1000):  # a thousand at a time, for the memory's sake
        encodings = whole.encode_batch_fast(texts[start : start + 1000], add_special_tokens=False)
        parts += [np.array(encoding.ids, np.int32) for encoding in encodings]
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Corpus(np.concatenate(parts), starts)


def similar_lengths(lengths: np.ndarray, size: int, seed: int | tuple[int, ...]) -> list[np.ndarray]:
    """Batches of `size` that need little padding, in random order, of examples that come once.

    Those too few for a batch, whichever they are, are left out. Examples are shuffled, sorted by length within stretches of fifty batches, and the batches shuffled.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))[: len(lengths) // size * size]
    stretch = 50 * size
    for start in range(0, len(order), stretch):
        part = order[start : start + stretch]
        order[start : start + stretch] = part[np.argsort(lengths[part], kind="stable")]
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    random.shuffle(batches)
    return batches


def pad_rows(rows: list[np.ndarray], padding_id: int) -> Int[Tensor, "row longest"]:
    out = np.full((len(rows), max(map(len, rows))), padding_id, np.int64)
    for values, row in zip(out, rows, strict=True):
        values[: len(row)] = row
    return torch.from_numpy(out)
