"""What an encoder answers to one input where a part of what it computes is taken from another.

A part that carries what tells the two inputs apart moves the answer of the first towards that of the second (activation
patching: Vig et al. 2020, "causal mediation analysis"; Meng et al. 2022, "causal tracing").

Positions are paired. In inputs of one length each is paired with the same one of the other; else what both begin with and
what both end with is, and of what stands between, one by one from its beginning, as far as both have some. What is left
over has no partner and stays as it is.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from ..capture import activations, evaluating
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import FullMask, Transformer
from .one_head_changed import Answers, each_in_turn
from .probabilities import at_once, parts, read_answer


class Pairs(NamedTuple):
    """Positions of the one input, in order, and those of the other that they are paired with."""

    ours: tuple[int, ...]
    theirs: tuple[int, ...]


def paired(loaded: Loaded, given: InputLike, source: InputLike) -> Pairs:
    """How the module says. Raises as `model.inputs.prepare` does."""
    (ours, read), (theirs, read_of_theirs) = prepare(loaded, given), prepare(loaded, source)
    n, m = len(read), len(read_of_theirs)
    if n == m:
        return Pairs(tuple(range(n)), tuple(range(n)))
    one, other = ours[0].tolist(), theirs[0].tolist()
    shorter = min(n, m)
    begin = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    rest = shorter - begin
    end = next((at for at in range(rest) if one[-1 - at] != other[-1 - at]), rest)
    head = range(shorter - end)  # as far as both have some
    return Pairs((*head, *range(n - end, n)), (*head, *range(m - end, m)))


def patch_heads(
    loaded: Loaded, given: InputLike, source: InputLike
) -> Float32[np.ndarray, "layer head answer"]:
    """The answers (as of `model.experiments.probabilities.probabilities`) to `given` with each head's output z alone as it is for `source`.

    Positions without a partner keep their own z. Raises as `model.inputs.prepare` does.
    """
    config = loaded.config
    found = np.empty((config.n_layers, config.n_heads, _n_answers(loaded)), np.float32)
    for layer, heads, answers in patched_heads(loaded, given, source):
        found[layer, heads] = answers[:, 0].cpu().numpy()
    return found


def patched_heads(loaded: Loaded, given: InputLike, source: InputLike) -> Iterator[Answers]:
    """As `patch_heads`, some heads of a layer at a time: it can be watched, and left off."""
    pairs = paired(loaded, given, source)
    names = [f"blocks.{layer}.attention.z" for layer in range(loaded.config.n_layers)]
    theirs = activations(loaded, [source], names)

    def instead(layer: int, z: Tensor) -> Tensor:
        changed = z.clone()
        changed[:, :, list(pairs.ours)] = theirs[names[layer]][:, :, list(pairs.theirs)]
        return changed

    return each_in_turn(loaded, given, instead)


def patch_positions(
    loaded: Loaded, given: InputLike, source: InputLike
) -> Float32[np.ndarray, "stage position answer"]:
    """The answers to `given` with the residual stream at one stage (embed, L0 mid, L0 post, …: as of a record) and position
    alone as it is for `source`; NaN at positions without a partner. Raises as `model.inputs.prepare` does.
    """
    n = len(prepare(loaded, given)[1])
    found = np.full((1 + 2 * loaded.config.n_layers, n, _n_answers(loaded)), np.nan, np.float32)
    for part in patched_positions(loaded, given, source):
        found[part.stage, part.positions] = part.answers
    return found


class Patched(NamedTuple):
    """Of some positions at one stage."""

    stage: int
    positions: list[int]
    answers: Float32[np.ndarray, "position answer"]


def patched_positions(loaded: Loaded, given: InputLike, source: InputLike) -> Iterator[Patched]:
    """As `patch_positions`, as many positions at a time as share a batch: it can be watched, and left off."""
    model, pairs = loaded.model, paired(loaded, given, source)
    inputs = prepare(loaded, given)[0]
    states, others = (_states(loaded, each) for each in (given, source))
    size = at_once(loaded.config, states.shape[1])
    for stage in range(len(states)):
        # Where both are the same, as all but the changed words are in the embedding, nothing is changed.
        same = (states[stage, list(pairs.ours)] == others[stage, list(pairs.theirs)]).all(dim=-1).tolist()
        rows = [row for row, is_same in enumerate(same) if not is_same]
        unchanged = [pairs.ours[row] for row, is_same in enumerate(same) if is_same]
        with torch.inference_mode(), evaluating(model):
            mask = model.full_mask(inputs, None)
            if unchanged:
                clean = read_answer(model, states[-1:], inputs).cpu().numpy()
                yield Patched(stage, unchanged, np.repeat(clean, len(unchanged), axis=0))
        for some in parts(rows, size):
            ours, theirs = [pairs.ours[row] for row in some], [pairs.theirs[row] for row in some]
            with torch.inference_mode(), evaluating(model):
                patched = states[stage].repeat(len(some), 1, 1)
                patched[range(len(some)), ours] = others[stage, theirs]
                answers = _from_stage_on(model, stage, states, patched, mask, inputs)
                yield Patched(stage, ours, answers.cpu().numpy())


def _states(loaded: Loaded, given: InputLike) -> Float[Tensor, "stage position d_model"]:
    """The residual stream of one input, by stage."""
    names = ["embedding.output"]
    for layer in range(loaded.config.n_layers):
        names += [f"blocks.{layer}.resid_mid", f"blocks.{layer}.resid_post"]
    seen = activations(loaded, [given], names)
    return torch.cat([seen[name] for name in names])


def _from_stage_on(
    model: Transformer,
    stage: int,
    states: Float[Tensor, "stage position d_model"],
    patched: Float[Tensor, "input position d_model"],
    mask: FullMask | None,
    inputs: Tensor,
) -> Float[Tensor, "input answer"]:
    """The answers where the stream at `stage` is one of `patched`; before it all is as `states` say."""
    layer, between = divmod(stage - 1, 2) if stage else (-1, 1)
    n = len(patched)
    if (
        not between
    ):  # at L mid: what stands before it in the block does not count, save what goes past it (B2T)
        into = states[stage - 1].repeat(n, 1, 1)
        with watch(model, {f"blocks.{layer}.resid_mid": lambda _: patched}):
            patched = model.blocks[layer](into, None, torch.zeros_like(into))
    if mask is not None:
        mask = mask.repeat(n, 1, 1, 1, 1)
    x = model.pass_blocks(patched, mask, layer + 1)
    return read_answer(model, x, inputs.repeat(n, *(1,) * (inputs.ndim - 1)))


def _n_answers(loaded: Loaded) -> int:
    return loaded.config.n_classes if loaded.config.chooses else loaded.config.d_pooled
