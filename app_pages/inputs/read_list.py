"""Runs an encoder on the inputs of a list that it can read, in batches under a progress bar."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from app_pages.controls.estimated_work import A_SECOND, multiply_adds
from app_pages.inputs.input_list import Item
from app_pages.subject import cache, encoders
from app_pages.subject.cache import Checkpoint
from app_pages.subject.subject import encoded_text
from app_pages.toolkit.markdown import counted, first_names
from app_pages.toolkit.stoppable import in_steps
from model.inputs import Input, Text
from model.inputs.text import Encoded

AT_ONCE = 20  # inputs between two movements of the bar at most; fewer where each takes long
MOST_NAMED = 5  # inputs that are left out


def readable_inputs(
    name: Checkpoint, items: Sequence[Item]
) -> tuple[dict[int, Input], list[str], dict[int, Encoded]]:
    """(inputs, notes, encoded): the inputs that the encoder `name` can read, by their index in `items`; sentences on those that
    it cannot read; and the encoded texts, by the same index.
    """
    config = cache.loaded(name).config
    readable, tokens_by_number, unreadable = {}, {}, []
    for number, item in enumerate(items):
        value = item.as_input(config, reads_pairs=encoders.reads_pairs(name))
        if isinstance(value, Text):
            tokens_by_number[number] = encoded_text(name, value)
            value = value if tokens_by_number[number].n_read else None
        if value is None:
            unreadable.append(number)
        else:
            readable[number] = value
    notes = []
    if unreadable:
        reason = "in which the encoder finds no token" if config.is_text else "in which no digit was found"
        n_unreadable_text = counted(len(unreadable), "text" if config.is_text else "picture")
        named = first_names(
            [items[number].name or f"number {number + 1:,}" for number in unreadable], MOST_NAMED
        )
        notes.append(f"{n_unreadable_text} left out, {reason}: {named}.")
    n_pairs = sum(bool(item.text and item.text.second) for item in items)
    if n_pairs and not encoders.reads_pairs(name):
        notes.append(f"This encoder reads one text at a time: {counted(n_pairs, 'second part')} left out.")
    return readable, notes, tokens_by_number


def too_long(left_out: Iterable[int]) -> list[str]:
    """A note about texts that exceed the encoder's positions, from the number of tokens `left_out` of each; [] if all are 0."""
    cut = [n for n in left_out if n]
    if not cut:
        return []
    n_tokens = (
        counted(cut[0], "token") if min(cut) == max(cut) else f"{min(cut):,} to {counted(max(cut), 'token')}"
    )
    return [f"{counted(len(cut), 'text')} too long for this encoder: {n_tokens} left out."]


def in_list_order(
    make: Callable,
    name: Checkpoint,
    readable: dict[int, Input],
    encoded: dict[int, Encoded],
    **options: Any,
) -> list:
    """Results of `make(encoder, inputs, **options)`, one for each of the `readable` inputs, in the order of the list. Inputs are
    read sorted by length, that of texts from their tokens in `encoded`, so that those of one length share a batch.
    """
    numbers = sorted(readable, key=lambda number: (len(encoded.get(number, ())), number))
    inputs = tuple(readable[number] for number in numbers)
    config = cache.loaded(name).config
    longest = max(map(len, encoded.values()), default=config.n_positions)
    at_once = int(np.clip(A_SECOND // multiply_adds(config, longest), 1, AT_ONCE))
    batches = [inputs[start : start + at_once] for start in range(0, len(inputs), at_once)]
    steps = [partial(cache.of, make, name, batch, **options) for batch in batches]
    results = in_steps(steps, f"Reading {len(inputs):,} inputs …", (make.__name__, name, inputs))
    by_number = dict(zip(numbers, chain.from_iterable(results), strict=True))
    return [by_number[number] for number in readable]
