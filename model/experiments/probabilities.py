"""What the classifier answers for many inputs, or for one under many interventions, as few forwards as will do."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from ..capture import evaluating
from ..capture.intervention import Intervention
from ..config import ModelConfig
from ..hooks import Watcher, watch
from ..inputs import InputLike
from ..loaded import Loaded
from ..transformer import Transformer

NUMBERS_AT_ONCE = 2**22  # attention weights of one layer, or hidden units, that are in memory together
UNCHANGED = (Intervention(),)


def probabilities(
    loaded: Loaded, inputs: Sequence[InputLike], interventions: Sequence[Intervention] = UNCHANGED
) -> Float32[np.ndarray, "input intervention answer"]:
    """The probabilities of the classes for each input under each intervention.

    Of an encoder that does not choose one of several classes, the pooled state [d_pooled] in their place. Inputs of one length share a
    batch, and so do interventions that begin in the same layer; the layers before it are run once.
    Raises as `model.capture.capture` does.
    """
    model = loaded.model
    n_answers = loaded.config.n_classes if loaded.config.chooses else loaded.config.d_pooled
    found = np.empty((len(inputs), len(interventions), n_answers), np.float32)
    paddings = [each.n_padding(loaded.config) for each in interventions]
    with torch.inference_mode(), evaluating(model):
        for padding in set(paddings):
            columns = [at for at, n_padding in enumerate(paddings) if n_padding == padding]
            prepared = [interventions[columns[0]].prepare(loaded, given)[0] for given in inputs]
            for rows in of_one_length(prepared, loaded.config):
                batch = torch.cat([prepared[row] for row in rows])
                for some, answers in _answers(model, batch, {at: interventions[at] for at in columns}):
                    found[np.ix_(rows, some)] = answers.transpose(0, 1).cpu().numpy()
    return found


def at_once(config: ModelConfig, n: int) -> int:
    """How many inputs of `n` positions share a batch."""
    return max(1, NUMBERS_AT_ONCE // (n * max(config.n_heads * n, config.d_ff)))


def of_one_length(inputs: Sequence[Tensor], config: ModelConfig) -> Iterator[list[int]]:
    """Which of the inputs, as `model.inputs.prepare` makes them, share a batch."""

    def length(row: int) -> int:
        return inputs[row].shape[1] if config.is_text else config.n_positions

    for n, rows in groupby(sorted(range(len(inputs)), key=length), key=length):
        yield from parts(list(rows), at_once(config, n))


def _answers(
    model: Transformer, inputs: Tensor, interventions: dict[int, Intervention]
) -> Iterator[tuple[list[int], Float32[Tensor, "intervention input answer"]]]:
    """For some of the interventions at a time, which they are and what comes of them."""

    def first_layer(at: int) -> int:
        return interventions[at].first_layer(model.config)

    mask, x, done = model.full_mask(inputs, None), model.embed(inputs), 0
    size = max(1, at_once(model.config, x.shape[1]) // len(inputs))
    for first, same in groupby(sorted(interventions, key=first_layer), key=first_layer):
        x, done = model.pass_blocks(x, mask, done, max(first, 0)), max(first, 0)
        for some in parts(list(same), size):
            states = None if first < 0 else x
            answers = _side_by_side(model, inputs, [interventions[at] for at in some], states, done)
            yield some, answers.unflatten(0, (len(some), len(inputs)))


def _side_by_side(
    model: Transformer, inputs: Tensor, interventions: Sequence[Intervention], x: Tensor | None, first: int
) -> Float32[Tensor, "intervention_and_input answer"]:
    """The answers of all inputs under the first intervention, then under the second, ...; from block `first` on.

    `x` is what goes into that block, None where the embedding is changed.
    """
    n = len(interventions)
    masks = [each.mask(model, inputs) for each in interventions]
    watchers = [each.watchers(model, mask) for each, mask in zip(interventions, masks, strict=True)]
    repeated = inputs.repeat(n, *(1,) * (inputs.ndim - 1))
    with watch(model, _for_each_part(watchers)):
        states = model.embed(repeated) if x is None else x.repeat(n, 1, 1)
        return read_answer(model, model.pass_blocks(states, _joined(masks, inputs), first), repeated)


def read_answer(model: Transformer, x: Tensor, inputs: Tensor) -> Float32[Tensor, "input answer"]:
    """From what leaves the last block: probabilities, or the pooled state where no class is chosen."""
    if model.config.chooses:
        return model.answer(x, inputs).softmax(dim=-1)
    return model.pool(model.final_norm(x), inputs)


def _joined(masks: Sequence[Tensor | None], inputs: Tensor) -> Tensor | None:
    """One mask for a batch of all: None where none of them masks anything."""
    if all(mask is None for mask in masks):
        return None
    layers = next(mask.shape[1] for mask in masks if mask is not None)
    whole = torch.ones(1, layers, 1, 1, 1, dtype=torch.bool, device=inputs.device)
    masks = [whole if mask is None else mask for mask in masks]
    # By numpy: torch's broadcast_shapes imports sympy, 0.3 s.
    shape = np.broadcast_shapes((len(inputs), 1, 1, 1, 1), *(mask.shape for mask in masks))
    return torch.cat([mask.expand(shape) for mask in masks])


def _for_each_part(watchers: Sequence[dict[str, Watcher]]) -> dict[str, Watcher]:
    """Watchers of a batch in equal parts, each of which is for one of those given."""

    def in_parts(name: str, activation: Tensor) -> Tensor:
        parts = zip(watchers, activation.chunk(len(watchers)), strict=True)
        changed = [(each[name](part), part) if name in each else (None, part) for each, part in parts]
        return torch.cat([part if new is None else new for new, part in changed])

    names = {name for each in watchers for name in each}
    return {name: partial(in_parts, name) for name in names}


def parts(all_of_them: list[int], size: int) -> Iterator[list[int]]:
    return (all_of_them[start : start + size] for start in range(0, len(all_of_them), size))
