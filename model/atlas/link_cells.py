"""Where the links of a sentence stand in a map of attention, and which heads follow them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from ..loaded import Loaded
from .linked_inputs import TO_HEAD, LinkedText, with_spaces
from .strongest_words import strongest_words
from .word_positions import word_positions


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
