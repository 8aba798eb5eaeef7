"""The word to which each word gives the most attention, in every head (Clark et al. 2019, section 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor

from ..inputs import prepare
from ..loaded import Loaded
from ..record import Positions
from .dataset_measure import measure_patterns
from .linked_inputs import TO_HEAD, LinkedText, Span, with_spaces_if_needed

# Why a word has no positions of its own: a token that it shares with another word, its end cut off with the end of the text,
# no token at all.
Reason = Literal["joined", "cut", "dropped"]
ROUNDING = 1e-6  # of a weight in single precision, below which two weights are equal
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPositions:
    """The positions of an input in groups: a group is a word, or several words if they share a token.

    Special tokens belong to no group.
    """

    groups: Int[np.ndarray, " position"]  # index of the group of each position; -1 for none
    words: Int[np.ndarray, " word"]  # index of the group that is this word alone; -1 for none
    reasons: tuple[Reason | None, ...]  # why a word has no group of its own; None if it has one

    @property
    def n_groups(self) -> int:
        return int(self.groups.max(initial=-1)) + 1


def word_positions(tokenizer: Tokenizer, text: str, words: Sequence[Span]) -> WordPositions:
    """The positions of each word of a text, of which the tokenizer adds special tokens and cuts off what is too long.

    A token belongs to the words whose characters it covers. `words` holds the words' spans in the order of the text; two spans
    must be equal or not overlap.
    """
    encoding = tokenizer.encode(text)
    is_text = np.array(encoding.special_tokens_mask) == 0
    is_covering = _overlaps(encoding.offsets, words) & is_text[:, None]
    is_cut = np.zeros(len(words), bool)
    for rest in encoding.overflowing:
        is_rest = np.array(rest.special_tokens_mask) == 0
        is_cut |= _overlaps(rest.offsets, words)[is_rest].any(axis=0)
    is_joined_to_previous = np.zeros(len(words), bool)
    is_joined_to_previous[1:] = (is_covering[:, 1:] & is_covering[:, :-1]).any(axis=0)
    group_of_word = np.cumsum(~is_joined_to_previous) - 1
    sizes = np.bincount(group_of_word, minlength=len(words))
    has_token = is_covering.any(axis=0)
    reasons: list[Reason | None] = []
    for word, group in enumerate(group_of_word.tolist()):
        reason: Reason | None = "joined" if sizes[group] > 1 else None
        reason = "dropped" if not has_token[word] else reason
        reasons.append("cut" if is_cut[word] else reason)
    # Only groups of which a token is read have an index.
    groups_with_token = np.unique(group_of_word[has_token])
    indices = np.full(len(words), -1)
    indices[groups_with_token] = np.arange(len(groups_with_token))
    index_of_word = indices[group_of_word]
    first_word = is_covering.argmax(axis=1) if len(words) else np.zeros(len(is_covering), int)
    groups = np.where(is_covering.any(axis=1), index_of_word[first_word], -1)
    has_own_group = np.array([reason is None for reason in reasons], bool)
    return WordPositions(
        groups=groups, words=np.where(has_own_group, index_of_word, -1), reasons=tuple(reasons)
    )


def patch_positions(positions: Positions) -> WordPositions:
    """The positions of a picture, in which each patch is a group like a word, row by row."""
    patches = positions.positions_with_role("patch")
    groups = np.full(len(positions), -1)
    groups[list(patches)] = np.arange(len(patches))
    return WordPositions(groups=groups, words=np.arange(len(patches)), reasons=(None,) * len(patches))


def _overlaps(offsets: Sequence[Span], words: Sequence[Span]) -> np.ndarray:
    """Whether each token and each word have a character in common: a boolean array [token, word]."""
    token_starts, token_ends = np.array(offsets, int).reshape(-1, 2).T
    word_starts, word_ends = np.array(words, int).reshape(-1, 2).T
    return (token_starts[:, None] < word_ends) & (token_ends[:, None] > word_starts)


def strongest_other_group(
    pattern: Float[Tensor, "example head query key"], examples: Sequence[WordPositions]
) -> Int[np.ndarray, "example head group"]:
    """For each group of positions, the index of the other group to which it gives the most attention.

    Attention to a group is the sum over its positions, attention from a group the mean over its positions (Clark et al.
    2019, section 4.1); a group's attention to itself is left out, as in their code. The index is -1 where several groups get
    the most within the rounding of single precision, such as in a head with uniform attention. Values beyond the number of
    groups of an example, and those of an example with one group, mean nothing.
    """
    n_groups = max(1, *(positions.n_groups for positions in examples))
    groups = torch.from_numpy(np.stack([positions.groups for positions in examples]))
    membership = torch.nn.functional.one_hot(groups + 1, n_groups + 1)[..., 1:].double()[:, None]
    sizes = membership.sum(dim=-2)
    # In double precision, so that the order of the sums does not decide between nearly equal weights. Not every device has it.
    sums = pattern.cpu().double() @ membership
    means = membership.transpose(-2, -1) @ sums / sizes.clamp(min=1)[..., None]
    is_candidate = (sizes > 0)[..., None, :] & ~torch.eye(n_groups, dtype=torch.bool)
    weights = means.masked_fill(~is_candidate, -1.0)
    is_strongest = weights >= weights.amax(dim=-1, keepdim=True) * (1 - ROUNDING)
    return torch.where(is_strongest.sum(dim=-1) == 1, weights.argmax(dim=-1), -1).numpy()


def positions_of_words(loaded: Loaded, linked: object, encoded: Positions) -> WordPositions:
    """The positions of the words of a `LinkedText`, or of the patches of a `LinkedPicture`.

    `encoded` holds the positions of the input `linked` as the encoder reads it.
    """
    if isinstance(linked, LinkedText):
        assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
        return word_positions(loaded.tokenizer, linked.text, linked.words)
    return patch_positions(encoded)


def strongest_by_layer(
    loaded: Loaded, inputs: Tensor, positions: Sequence[WordPositions], numbers: Sequence[int]
) -> Int[np.ndarray, "layer example head group"]:
    """For each word of each example, a group of positions, the index of the other word to which it gives the most attention
    (`strongest_other_group`), in every head of every layer.

    `positions` holds the positions of each example's words, `numbers` the examples' numbers in the data set, for messages. Raises ValueError if the attention is not finite.
    """

    def strongest(layer: int, pattern: Tensor) -> np.ndarray:
        if not pattern.isfinite().all():
            raise ValueError(
                f"examples {min(numbers)} to {max(numbers)}: the attention of layer {layer} is not finite"
            )
        return strongest_other_group(pattern, positions)

    return np.stack(measure_patterns(loaded, inputs, strongest))


def strongest_words(loaded: Loaded, linked: LinkedText) -> Int[np.ndarray, "layer head word"]:
    """For each word, the index in `linked.words` of the other word to which it gives the most attention, in every head.

    It is -1 if one of the two words has no positions of its own, or if several words get the most attention.
    """
    linked = with_spaces_if_needed(loaded, linked)
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
    """A link between two words, its cells in an attention pattern [query, key], and the heads that follow it."""

    relation: str
    words: tuple[str, str]  # the query's and the key's
    queries: tuple[int, ...]  # positions of the pieces of the query's word
    keys: tuple[int, ...]
    hits: Bool[np.ndarray, "layer head"]  # whether the query's strongest other word is the key's


def link_cells(loaded: Loaded, linked: LinkedText, direction: str = TO_HEAD) -> tuple[LinkCells, ...]:
    """For each link of a text, in their order, its query and key positions and the heads that follow it (`strongest_words`).

    In the direction "to head" the dependent is the query and its head the key, in "to dependent" it is the other way round.
    A link is left out if a word shares a token with another, has no token, or lies beyond the length that the encoder reads.
    All links are left out if the text's words are characters that the tokenizer reads only with spaces between them.
    """
    assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
    if with_spaces_if_needed(loaded, linked) is not linked:
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
