"""The word to which each word gives the most attention, in every head (Clark et al. 2019, section 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..capture import evaluation_mode
from ..hooks import watch
from ..inputs import prepare
from ..loaded import Loaded
from ..record import Positions
from .linked_inputs import TO_HEAD, LinkedText, with_spaces
from .word_positions import WordPositions, patch_positions, strongest_other_group, word_positions


def positions_of_words(loaded: Loaded, linked: object, encoded: Positions) -> WordPositions:
    """The positions of the words of a `LinkedText`, as its encoder reads it, or of the patches of a `LinkedPicture`."""
    if isinstance(linked, LinkedText):
        assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
        return word_positions(loaded.tokenizer, linked.text, linked.words)
    return patch_positions(encoded)


def strongest_by_layer(
    loaded: Loaded, inputs: Tensor, positions: Sequence[WordPositions], numbers: Sequence[int]
) -> Int[np.ndarray, "layer example head group"]:
    """The other group of positions to which each group gives the most attention, by
    `model.atlas.word_positions.strongest_other_group`.

    Raises ValueError, with the `numbers` of the first and the last example, if the attention is not finite.
    """
    by_layer: dict[int, np.ndarray] = {}

    def keep_strongest(layer: int, pattern: Tensor) -> None:
        if not pattern.isfinite().all():
            raise ValueError(
                f"examples {min(numbers)} to {max(numbers)}: the attention of layer {layer} is not finite"
            )
        by_layer[layer] = strongest_other_group(pattern, positions)

    watchers = {
        f"blocks.{layer}.attention.pattern": partial(keep_strongest, layer)
        for layer in range(loaded.config.n_layers)
    }
    with torch.inference_mode(), evaluation_mode(loaded.model), watch(loaded.model, watchers):
        loaded.model.encode(inputs)
    return np.stack([by_layer[layer] for layer in range(loaded.config.n_layers)])


def strongest_words(loaded: Loaded, linked: LinkedText) -> Int[np.ndarray, "layer head word"]:
    """The other word to which each word gives the most attention, by its index in `linked.words`; -1 for a word, or to one, that
    has no positions of its own, and where several words have the most.
    """
    linked = with_spaces(loaded, linked)
    inputs, encoded = prepare(loaded, linked)
    positions = positions_of_words(loaded, linked, encoded)
    strongest = strongest_by_layer(loaded, inputs, [positions], [1])[:, 0]
    word_of_group = np.full(positions.n_groups + 1, -1)  # its last entry is that of the group -1
    has_group = positions.words >= 0
    word_of_group[positions.words[has_group]] = np.flatnonzero(has_group)
    result = word_of_group[strongest[:, :, positions.words]]
    return np.where(has_group, result, -1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkCells:
    """A link between two words, the cells of a map [query, key] in which it stands, and the heads that follow it."""

    relation: str
    words: tuple[str, str]  # the query's and the key's
    queries: tuple[int, ...]  # positions of the pieces of the query's word
    keys: tuple[int, ...]
    hits: Bool[np.ndarray, "layer head"]  # whether the query's strongest other word is the key's


def link_cells(loaded: Loaded, linked: LinkedText, direction: str = TO_HEAD) -> tuple[LinkCells, ...]:
    """The links of a sentence in the positions that the encoder reads, in the order of the links.

    In the direction "to head" the dependent is the query and its head the key, in "to dependent" it is the other way round.
    A word's strongest other word is that of `model.atlas.strongest_words.strongest_words` (Clark et al. 2019). Links of a word that
    shares a token with another, has none, or lies beyond the length that the encoder reads are left out, and all of a text that
    its tokenizer reads only with spaces between the characters.
    """
    assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
    if with_spaces(loaded, linked) is not linked:
        return ()
    positions = word_positions(loaded.tokenizer, linked.text, linked.words)
    strongest = strongest_words(loaded, linked)
    cells = []
    for dependent, head, relation in linked.links:
        if positions.reasons[dependent] is not None or positions.reasons[head] is not None:
            continue
        query, key = (dependent, head) if direction == TO_HEAD else (head, dependent)
        query_positions, key_positions = (
            tuple(np.flatnonzero(positions.groups == positions.words[word]).tolist()) for word in (query, key)
        )
        cells.append(
            LinkCells(
                relation=relation,
                words=(
                    linked.text[slice(*linked.words[query])],
                    linked.text[slice(*linked.words[key])],
                ),
                queries=query_positions,
                keys=key_positions,
                hits=strongest[:, :, query] == key,
            )
        )
    return tuple(cells)
