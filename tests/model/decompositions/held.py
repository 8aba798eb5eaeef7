"""An encoder whose norms keep their divisors and whose sublayers keep their outputs, while a head is taken away."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace

from torch import Tensor, nn

from model.capture import activations
from model.hooks import watch
from model.loaded import Loaded
from tests.model.tiny import changed_at


class HeldNorm(nn.Module):
    """A LayerNorm that divides by the standard deviation of what it read first."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.norm, self.deviation = norm, None

    def forward(self, x: Tensor) -> Tensor:
        if self.deviation is None:
            self.deviation = (x.var(dim=-1, correction=0, keepdim=True) + self.norm.eps).sqrt()
        return (x - x.mean(dim=-1, keepdim=True)) / self.deviation * self.norm.weight + self.norm.bias


@contextmanager
def without_part(loaded: Loaded, text: str, name: str, index: tuple) -> Iterator[Loaded]:
    """Context manager: the encoder with zeros in the activation `name` at `index`, and all else held.

    Every later sublayer's output is that of the unchanged forward pass, and so is the divisor of every norm.
    """
    model = deepcopy(loaded.model)
    for parent in list(model.modules()):
        for child_name, child in list(parent.named_children()):
            if isinstance(child, nn.LayerNorm):
                setattr(parent, child_name, HeldNorm(child))
    changed = replace(loaded, model=model)
    outputs = [
        f"blocks.{layer}.{point}"
        for layer in range(loaded.config.n_layers)
        for point in ("attention_out", "feed_forward_out")
    ]
    recorded = activations(changed, [text], outputs)

    own = name.replace("attention.z", "attention_out")
    later = outputs[outputs.index(own) + 1 :] if own in outputs else outputs
    kept = {point: lambda _, point=point: recorded[point] for point in later}
    with watch(model, {**kept, name: changed_at(index, 0)}):
        yield changed
