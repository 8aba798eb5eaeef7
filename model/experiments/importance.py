"""How fast the loss changes when a head's output is scaled, to first order: one backward pass a batch.

Michel et al. 2019, "Are Sixteen Heads Really Better than One?": I_h = E_x |z_hᵀ ∂L/∂z_h|. It is the size of
dL/da at a = 1 where the head puts out a z_h, an estimate that is always to be compared with true ablation (`model.experiments.ablation`).
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor
from torch.nn import functional

from ..capture import evaluating
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import Transformer
from .probabilities import of_one_length, parts


def importance(
    loaded: Loaded, inputs: Sequence[InputLike], labels: Sequence[int] | None = None
) -> Float32[np.ndarray, "input layer head"]:
    """|z_hᵀ ∂L/∂z_h|, the product summed over positions and d_v, of each input; their mean over inputs is I_h.

    L is the cross-entropy (nats) with the input's label, or without `labels` with the class that is predicted. An
    encoder that does not choose one of several classes has no such loss: there L = ln |p| of its pooled state p, which
    tells how much longer p is, to first order, for what the head puts out.
    Raises as `model.inputs.prepare` does, and ValueError where labels are no classes of the encoder, one an input.
    """
    config = loaded.config
    if labels is not None:
        check_labels(loaded, inputs, labels)
    found = np.empty((len(inputs), config.n_layers, config.n_heads), np.float32)
    prepared = [prepare(loaded, given)[0] for given in inputs]
    with torch.inference_mode(False), torch.enable_grad(), evaluating(loaded.model):
        for together in of_one_length(prepared, config):
            # the graph holds all layers, where `of_one_length` counts with one
            for rows in parts(together, max(1, len(together) // config.n_layers)):
                batch = torch.cat([prepared[row] for row in rows]).clone()
                known = None if labels is None else torch.tensor([labels[row] for row in rows])
                found[rows] = _of_batch(loaded.model, batch, known).cpu().numpy()
    return found


def check_labels(loaded: Loaded, inputs: Sequence[InputLike], labels: Sequence[int]) -> None:
    """Raises ValueError where they are not one class of the encoder for each input."""
    n_classes = loaded.config.n_classes if loaded.config.chooses else 0
    if not n_classes:
        raise ValueError(f"{loaded.name} does not choose one of several classes: labels say nothing to it")
    if len(labels) != len(inputs):
        raise ValueError(f"{len(inputs)} inputs need as many labels, got {len(labels)}")
    if wrong := sorted({int(label) for label in labels if not 0 <= label < n_classes}):
        raise ValueError(f"{loaded.name} has the classes 0 to {n_classes - 1}, got {wrong}")


def _of_batch(model: Transformer, inputs: Tensor, labels: Tensor | None) -> Float[Tensor, "input layer head"]:
    outputs: list[Tensor] = []

    def keep(z: Tensor) -> Tensor:
        if not z.requires_grad:  # nothing that is trained stands before it
            z = z.detach().requires_grad_()
        outputs.append(z)
        return z

    with watch(model, {f"blocks.{layer}.attention.z": keep for layer in range(len(model.blocks))}):
        states = model.pass_blocks(model.embed(inputs), model.full_mask(inputs, None))
        if model.config.chooses:
            logits = model.answer(states, inputs)
            labels = logits.argmax(dim=-1) if labels is None else labels.to(logits.device)
            loss = functional.cross_entropy(logits, labels, reduction="sum")
        else:
            loss = model.pool(model.final_norm(states), inputs).norm(dim=-1).log().sum()
    # The inputs do not see each other, so the gradient of the sum is each one's own.
    slopes = torch.autograd.grad(loss, outputs)
    return torch.stack(
        [(z * slope).sum(dim=(2, 3)).abs() for z, slope in zip(outputs, slopes, strict=True)], dim=1
    ).detach()
