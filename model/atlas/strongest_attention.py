"""The (query, key) pairs with the largest weights of each head over a data set, at most one pair per example."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..inputs import Text, prepare
from ..loaded import Loaded
from ..measures.head_statistics import NOT_WORDS
from .dataset_examples import Examples, Shard
from .dataset_measure import Measure, ProgressCallback, batches, measure_patterns
from .running_moments import Arrays

CONTEXT = 80  # characters on each side
BETWEEN = 160  # characters between query and key
PAIR = ("number", "query", "key")


@dataclass(frozen=True, kw_only=True)
class StrongestPairs(Measure):
    """The `most` pairs (query, key) with the largest attention weights of each head, at most one pair from each example.

    Class token, separators and padding are left out, since many heads give them nearly all attention. Of pairs with equal
    weights, the one in the earlier example comes first.
    """

    name: ClassVar[str] = "examples"
    shard: int = 1024
    most: int = 5

    def measure_shard(self, loaded: Loaded, shard: Shard, report: ProgressCallback) -> Arrays:
        numbers = np.array(shard.numbers)
        strongest: Arrays = {}
        for indices, inputs, positions in batches(loaded, shard):
            n = len(positions[0])
            is_word = torch.tensor(
                [[role not in NOT_WORDS for role in example.roles] for example in positions],
                device=loaded.device,
            )
            is_word_pair = (is_word[:, None, :, None] & is_word[:, None, None, :]).flatten(2)

            def largest_weight(_: int, pattern: Tensor, is_word_pair: Tensor = is_word_pair) -> Any:
                """Largest weight of each head between two words, and its index in the flattened pattern."""
                return pattern.flatten(2).masked_fill(~is_word_pair, -1.0).max(dim=-1)

            weight, flat_index = (
                torch.stack(values, dim=1).cpu().numpy()
                for values in zip(*measure_patterns(loaded, inputs, largest_weight), strict=True)
            )
            query, key = np.divmod(flat_index, n)
            number = np.broadcast_to(numbers[indices][:, None, None], weight.shape)
            pairs = {"weight": weight, "number": number, "query": query, "key": key}
            pairs = {name: np.moveaxis(values, 0, -1) for name, values in pairs.items()}
            strongest = self.merged(strongest, pairs) if strongest else self._strongest(pairs)
            report(len(indices))
        return strongest

    def merged(self, first: Arrays, second: Arrays) -> Arrays:
        return self._strongest({name: np.concatenate((first[name], second[name]), axis=-1) for name in first})

    def _strongest(self, pairs: Arrays) -> Arrays:
        order = np.lexsort((pairs["number"], -pairs["weight"]), axis=-1)[..., : self.most]
        return {
            name: np.ascontiguousarray(np.take_along_axis(values, order, axis=-1))
            for name, values in pairs.items()
        }


def strongest_rows(loaded: Loaded, examples: Examples, pairs: Arrays) -> pd.DataFrame:
    """Table with the columns of `examples.parquet`: the pairs with the largest weights of each head, the largest first.

    `pairs` is the result of `StrongestPairs`. The columns `before`, `between` and `after` are the text around query and key,
    shortened; they are empty for pictures. The examples are read again.
    """
    shown_numbers = set(pairs["number"][pairs["weight"] >= 0].tolist())
    inputs = {number: text_or_image for number, text_or_image in examples if number in shown_numbers}
    table_rows = []
    for layer, head, rank in np.ndindex(pairs["weight"].shape):
        weight = float(pairs["weight"][layer, head, rank])
        number, query, key = (int(pairs[name][layer, head, rank]) for name in PAIR)
        if weight < 0:  # an example without words
            continue
        _, positions = prepare(loaded, inputs[number])
        row = {"layer": layer, "head": head, "rank": rank, "weight": weight, "number": number}
        row |= {"query": query, "key": key}
        row |= {"query_token": positions.tokens[query], "key_token": positions.tokens[key]}
        table_rows.append(row | _text_around_tokens(loaded, inputs[number], query, key))
    column_names = ("layer", "head", "rank", "weight", "number", "query", "key", "query_token", "key_token")
    return pd.DataFrame(table_rows, columns=[*column_names, "before", "between", "after"])


def _text_around_tokens(loaded: Loaded, text_or_image: object, query: int, key: int) -> dict[str, str]:
    """The text before, between and after the tokens `query` and `key`, shortened; empty for a picture."""
    if not isinstance(text_or_image, Text):
        return dict.fromkeys(("before", "between", "after"), "")
    text = text_or_image.text.encode("utf-8", "replace").decode("utf-8")
    assert loaded.tokenizer is not None, "an encoder of texts has a tokenizer"
    offsets = loaded.tokenizer.encode(text).offsets
    (first_start, first_end), (last_start, last_end) = offsets[min(query, key)], offsets[max(query, key)]
    before, between, after = text[:first_start], text[first_end : max(last_start, first_end)], text[last_end:]
    return {
        "before": f"…{before[-CONTEXT:]}" if len(before) > CONTEXT else before,
        "between": f"{between[: BETWEEN // 2]} … {between[-BETWEEN // 2 :]}"
        if len(between) > BETWEEN
        else between,
        "after": f"{after[:CONTEXT]}…" if len(after) > CONTEXT else after,
    }
