"""Reviews as token ids in one flat array, and batches of reviews of similar length."""

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
    """Token ids of reviews, without special tokens, in one flat array: review i is `ids[starts[i]:starts[i + 1]]`."""

    ids: Int[np.ndarray, " token"]
    starts: Int[np.ndarray, " review_and_end"]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int | np.integer) -> Int[np.ndarray, " token"]:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    @property
    def lengths(self) -> Int[np.ndarray, " review"]:
        """Number of tokens in each review."""
        return np.diff(self.starts)

    def pieces(self, shortest: int, longest: int) -> "Corpus":
        """The reviews cut into pieces of random length, from `shortest` to `longest` tokens.

        Only the last piece of a review may be shorter.
        """
        rng = np.random.default_rng(0)
        starts = [0]
        for end in self.starts[1:]:
            while (start := starts[-1] + int(rng.integers(shortest, longest + 1))) < end:
                starts.append(start)
            starts.append(int(end))
        return Corpus(self.ids, np.array(starts))

    def save(self, path: Path) -> None:
        """Writes the corpus as a safetensors file."""
        save_file({"ids": self.ids, "starts": self.starts}, path)

    @classmethod
    def read(cls, path: Path) -> "Corpus":
        """Reads a corpus that `save` wrote."""
        return cls(**load_file(path))


def tokenize(tokenizer: Tokenizer, texts: list[str]) -> Corpus:
    """Token ids of the texts, without special tokens and without truncation, as a corpus."""
    untruncated = Tokenizer.from_str(tokenizer.to_str())
    untruncated.no_truncation()
    rows = []
    for start in range(0, len(texts), 1000):  # a thousand at a time, to save memory
        encodings = untruncated.encode_batch_fast(texts[start : start + 1000], add_special_tokens=False)
        rows += [np.array(encoding.ids, np.int32) for encoding in encodings]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Corpus(np.concatenate(rows), starts)


def similar_lengths(lengths: np.ndarray, size: int, seed: int | tuple[int, ...]) -> list[np.ndarray]:
    """Random batches, each the indices of `size` examples of similar length, which need little padding; each example occurs
    once.

    Examples are shuffled, then sorted by length within stretches of fifty batches, and the batches are shuffled. Examples
    that do not fill a batch are left out.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(lengths))[: len(lengths) // size * size]
    stretch_length = 50 * size
    for start in range(0, len(order), stretch_length):
        indices = order[start : start + stretch_length]
        order[start : start + stretch_length] = indices[np.argsort(lengths[indices], kind="stable")]
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    rng.shuffle(batches)
    return batches


def pad_rows(rows: list[np.ndarray], padding_id: int) -> Int[Tensor, "row longest"]:
    """The rows of token ids as one tensor, padded at their ends with `padding_id` to the length of the longest row."""
    padded = np.full((len(rows), max(map(len, rows))), padding_id, np.int64)
    for values, row in zip(padded, rows, strict=True):
        values[: len(row)] = row
    return torch.from_numpy(padded)
