"""One forward pass, watched: `capture(loaded, given) -> ForwardRecord`."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor, nn

from model.checkpoint import Loaded
from model.config import ModelConfig
from model.hooks import Watcher, watch
from model.inputs import InputLike, prepare
from model.record import ForwardRecord, Positions

BY_LAYER = ("scores", "pattern", "q", "k", "v", "z")


def capture(
    loaded: Loaded,
    given: InputLike,
    *,
    mask: Bool[Tensor, "..."] | None = None,
    watchers: Mapping[str, Watcher] | None = None,
) -> ForwardRecord:
    """Runs one text or picture (uint8 of [height, width] or [height, width, 3]) and keeps what is worth seeing.

    Text beyond the positions of the encoder is left out (`model.text.encode` says how much).
    `mask` is as in `Transformer.forward`. `watchers`, and those of a `watch` around this call, intervene
    first: what they return is what is kept.
    Raises ValueError where the input is of the wrong kind, RuntimeError where an activation never came.
    """
    inputs, positions = prepare(loaded, given)
    model = loaded.model
    kept = Kept(model.config, len(positions), loaded.device)
    intervening = watch(model, watchers) if watchers else nullcontext()
    with torch.inference_mode(), evaluating(model):
        with intervening, watch(model, kept.watchers):
            logits = model(inputs, mask)
        kept.check()
        states = model.final_norm(kept.buffers["residual"])
        pooled = model.pool(states, inputs.expand(len(states), *inputs.shape[1:]))
        # Without classes the classifier hands its input on: that is no logits.
        logits, by_layer = (each[:, : model.config.n_classes] for each in (logits, model.classifier(pooled)))
        allowed = model.full_mask(inputs, mask)
    whole = torch.ones((), dtype=torch.bool) if allowed is None else allowed[0]
    return ForwardRecord(
        config=model.config,
        mask=_numpy(whole.expand(kept.buffers["pattern"].shape)),
        logits=_numpy(logits[0]),
        logits_by_layer=_numpy(by_layer),
        pooled=_numpy(pooled[-1]),
        **{field.name: getattr(positions, field.name) for field in fields(Positions)},
        **{name: _numpy(buffer) for name, buffer in kept.buffers.items()},
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


class Kept:
    """Buffers of the final shape, filled while the forward runs: stacking afterwards costs a quarter more."""

    def __init__(self, config: ModelConfig, n: int, device: torch.device) -> None:
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
        self.buffers = {
            name: part.view(shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)
        }
        # By layer or stage, each a batch of one.
        rooms = {name: buffer.unsqueeze(1).unbind() for name, buffer in self.buffers.items()}
        self.watchers = {"embedding.output": Keeper(rooms["residual"][0])}
        for layer in range(layers):
            self.watchers[f"blocks.{layer}.resid_mid"] = Keeper(rooms["residual"][1 + 2 * layer])
            self.watchers[f"blocks.{layer}.resid_post"] = Keeper(rooms["residual"][2 + 2 * layer])
            for name in BY_LAYER:
                self.watchers[f"blocks.{layer}.attention.{name}"] = Keeper(rooms[name][layer])

    def check(self) -> None:
        if missing := sorted(name for name, keeper in self.watchers.items() if not keeper.has_seen):
            raise RuntimeError(f"these activations were never seen: {missing}")


class Keeper:
    """Copies an activation into its room, unless it was computed in there."""

    def __init__(self, room: Tensor) -> None:
        self.room = room
        self.has_seen = False

    def __call__(self, activation: Tensor) -> None:
        if activation is not self.room:
            self.room.copy_(activation)
        self.has_seen = True


def _numpy(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()
