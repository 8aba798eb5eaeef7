"""What an encoder does with an input: any of its activations, or one forward pass as a `ForwardRecord`."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..config import ModelConfig
from ..hooks import watch
from ..inputs import InputLike
from ..loaded import Loaded
from ..record import ForwardRecord, Positions
from ..transformer import FullMask, Transformer
from .intervention import Intervention

BY_LAYER = ("scores", "pattern", "q", "k", "v", "z")


def activations(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    names: Collection[str],
    *,
    intervention: Intervention | None = None,
    gradients: bool = False,
) -> dict[str, Float[Tensor, "input ..."]]:
    """What passes the hook points of these `names` (`model.hooks.hook_points`), for all inputs in one batch.

    Shorter texts are padded at their end to the length of the longest. With `gradients` all of it carries its
    graph: `torch.autograd.grad(seen["logits"][0, 1], seen["blocks.0.attention.pattern"])`.
    Raises ValueError where an input is of the wrong kind, or texts of different lengths meet an encoder
    without padding; KeyError for an unknown name, RuntimeError where an activation never came.
    """
    intervention = intervention or Intervention()
    batch = _batch(loaded, [intervention.prepare(loaded, given)[0] for given in inputs])
    with torch.inference_mode(not gradients), torch.set_grad_enabled(gradients):
        return _seen(loaded.model, batch, intervention, intervention.mask(loaded.model, batch), names)


def capture(loaded: Loaded, given: InputLike, intervention: Intervention | None = None) -> ForwardRecord:
    """Runs one text, or one picture (uint8 of [height, width] or [height, width, 3]), and keeps every activation worth seeing.

    Text beyond the positions of the encoder is left out (`model.inputs.text.encode` says how much). Under an
    `intervention` the record is of what was done then: content in another order stands in that order. A
    `watch` around this call intervenes first.
    Raises ValueError where the input is of the wrong kind, RuntimeError where an activation never came.
    """
    intervention = intervention or Intervention()
    model = loaded.model
    inputs, positions = intervention.prepare(loaded, given)
    positions = intervention.as_read(positions)
    buffers = _buffers(model.config, len(positions), loaded.device)
    places = _places(buffers)
    with torch.inference_mode():
        mask = intervention.mask(model, inputs)
        logits = _seen(model, inputs, intervention, mask, ("logits", *places), into=places)["logits"]
        states = model.final_norm(buffers["residual"])
        repeated = inputs.expand(len(states), *inputs.shape[1:])
        # Without classes the classifier hands its input on: that is no logits.
        logits, by_layer = (
            each[:, : model.config.n_classes] for each in (logits, model.classify(states, repeated))
        )
        pooled = model.pool(states[-1:], inputs)
        by_token = model.token_logits(states[-1:])
    if mask is None or intervention.masking.method == "ignored":
        mask = torch.ones(1, 1, 1, 1, 1, dtype=torch.bool)
    return ForwardRecord(
        config=model.config,
        mask=_numpy(mask[0].expand(buffers["pattern"].shape)),
        logits=_numpy(logits[0]),
        logits_by_layer=_numpy(by_layer),
        pooled=_numpy(pooled[-1]),
        token_logits=None if by_token is None else _numpy(by_token[0]),
        **{field.name: getattr(positions, field.name) for field in fields(Positions)},
        **{name: _numpy(buffer) for name, buffer in buffers.items()},
    )


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode inside the `with`; a model that is in it already is not touched."""
    was_training = model.training
    if was_training:
        model.eval()
    try:
        yield
    finally:
        if was_training:
            model.train()


def _batch(loaded: Loaded, inputs: Sequence[Tensor]) -> Tensor:
    """Batches of one as one batch."""
    longest = max(each.shape[1] for each in inputs)
    if any(each.shape[1] < longest for each in inputs):
        if loaded.config.padding_id is None:
            raise ValueError(f"{loaded.name} knows no padding, so it reads texts of one length at a time")
        padding = loaded.config.padding_id
        inputs = [functional.pad(each, (0, longest - each.shape[1]), value=padding) for each in inputs]
    return torch.cat(list(inputs))


def _seen(
    model: Transformer,
    inputs: Tensor,
    intervention: Intervention,
    mask: FullMask | None,
    names: Collection[str],
    into: Mapping[str, Tensor] | None = None,
) -> dict[str, Tensor]:
    """The activations of one forward by name, those in `into` copied there as soon as they are computed."""
    seen: dict[str, Tensor] = {}
    keeping = {name: partial(_keep, seen, into or {}, name) for name in names}
    with evaluating(model), watch(model, intervention.watchers(model, mask)), watch(model, keeping):
        model.answer(model.pass_blocks(model.embed(inputs), mask), inputs)
    if missing := sorted(set(names) - set(seen)):
        raise RuntimeError(f"these activations were never seen: {missing}")
    return {name: seen[name] for name in names}


def _keep(seen: dict[str, Tensor], into: Mapping[str, Tensor], name: str, activation: Tensor) -> Tensor:
    if name in into:
        seen[name] = into[name].copy_(activation)
        return activation
    # nothing that is trained stands before it
    if torch.is_grad_enabled() and not activation.requires_grad:
        activation = activation.detach().requires_grad_()
    seen[name] = activation
    return activation


def _buffers(config: ModelConfig, n: int, device: torch.device) -> dict[str, Tensor]:
    """Room for a record's arrays in their final shape: stacking them afterwards costs a quarter more."""
    layers, heads = config.n_layers, config.n_heads
    shapes = {
        **dict.fromkeys(("scores", "pattern"), (layers, heads, n, n)),
        **dict.fromkeys(("q", "k"), (layers, heads, n, config.d_k)),
        **dict.fromkeys(("v", "z"), (layers, heads, n, config.d_v)),
        "residual": (1 + 2 * layers, n, config.d_model),
    }
    sizes = [math.prod(shape) for shape in shapes.values()]
    # One piece, and numpy's: for that the system gives large pages, which come faster than many small ones.
    parts = torch.from_numpy(np.empty(sum(sizes), np.float32)).to(device).split(sizes)
    return {name: part.view(shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)}


def _places(buffers: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Where in them each activation of a batch of one goes, by the name of its hook point."""
    by_stage = buffers["residual"].unsqueeze(1).unbind()
    places = {"embedding.output": by_stage[0]}
    for layer in range(len(by_stage) // 2):
        places[f"blocks.{layer}.resid_mid"] = by_stage[1 + 2 * layer]
        places[f"blocks.{layer}.resid_post"] = by_stage[2 + 2 * layer]
    for name in BY_LAYER:
        for layer, place in enumerate(buffers[name].unsqueeze(1).unbind()):
            places[f"blocks.{layer}.attention.{name}"] = place
    return places


def _numpy(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
