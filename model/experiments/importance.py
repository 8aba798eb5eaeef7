"""Importance of heads: the derivative of the loss with respect to a factor on the head's output, by one backward pass per
batch.

Michel et al. 2019, "Are Sixteen Heads Really Better than One?": I_h = E_x |z_hᵀ ∂L/∂z_h|, which is |dL/da| at a = 1 if the
output of head h is a z_h. It estimates the effect of ablation (`model.experiments.ablation`), with which it should be
compared.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor
from torch.nn import functional

from ..capture import collecting_activations, evaluation_mode
from ..inputs import InputLike
from ..loaded import Loaded
from ..transformer import Transformer
from .batching import batches
from .masked_word import MaskedWord, check_answer, log_probability


def importance(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    labels: Sequence[int] | None = None,
    answer: MaskedWord | None = None,
) -> Float32[np.ndarray, "input layer head"]:
    """Importance |z_hᵀ ∂L/∂z_h| of every head for each input, summed over positions and d_v; the mean over inputs is I_h.

    L is the cross-entropy (nats) with the input's label, or with the predicted class if there are no `labels`. For an
    encoder that does not choose one of several classes, L = ln |p| of its pooled state p. With a masked word as the `answer`
    of all inputs, L = −log P of it (nats). Raises as `model.inputs.prepare` and `model.experiments.masked_word.check_answer`
    do, and ValueError unless there is one valid class label for each input, and for labels beside a masked word.

    >>> from loupe import importance, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> importance(encoder, ["A gripping film."], labels=[1]).shape
    (1, 4, 4)
    """
    config = loaded.config
    if labels is not None:
        check_labels(loaded, inputs, labels)
        if answer is not None:
            raise ValueError("labels are of classes, and the answer is a masked word: give one of them")
    check_answer(loaded, inputs, answer)
    result = np.empty((len(inputs), config.n_layers, config.n_heads), np.float32)
    with torch.inference_mode(False), torch.enable_grad(), evaluation_mode(loaded.model):
        for rows, batch in batches(loaded, inputs, n_layers_held=config.n_layers):
            targets = None if labels is None else torch.tensor([labels[row] for row in rows])
            result[rows] = _importance(loaded.model, batch, targets, answer).cpu().numpy()
    return result


def check_labels(loaded: Loaded, inputs: Sequence[InputLike], labels: Sequence[int]) -> None:
    """Raises ValueError unless there is one label for each input, and each label is the index of a class of the encoder."""
    n_classes = loaded.config.n_classes if loaded.config.chooses_class else 0
    if not n_classes:
        raise ValueError(f"{loaded.name} does not choose one of several classes: labels say nothing to it")
    if len(labels) != len(inputs):
        raise ValueError(f"{len(inputs)} inputs need as many labels, got {len(labels)}")
    if invalid_labels := sorted({int(label) for label in labels if not 0 <= label < n_classes}):
        raise ValueError(f"{loaded.name} has the classes 0 to {n_classes - 1}, got {invalid_labels}")


def _importance(
    model: Transformer, inputs: Tensor, labels: Int[Tensor, " input"] | None, answer: MaskedWord | None
) -> Float[Tensor, "input layer head"]:
    """The result of `importance` for one batch; without labels, the loss is that of the predicted classes."""
    names = [f"blocks.{layer}.attention.z" for layer in range(model.config.n_layers)]
    with collecting_activations(model, names) as captured:
        states = model.encode(inputs)
    if answer is not None:
        loss = -log_probability(model, states, answer).sum()
    elif model.config.chooses_class:
        logits = model.classify(states, inputs)
        targets = logits.argmax(dim=-1) if labels is None else labels.to(logits.device)
        loss = functional.cross_entropy(logits, targets, reduction="sum")
    else:
        loss = model.pool(states, inputs).norm(dim=-1).log().sum()
    outputs = [captured[name] for name in names]
    # The inputs do not see each other, so the gradient of the sum is each one's own.
    gradients = torch.autograd.grad(loss, outputs)
    products = [(z * gradient).sum(dim=(2, 3)) for z, gradient in zip(outputs, gradients, strict=True)]
    return torch.stack(products, dim=1).abs().detach()
