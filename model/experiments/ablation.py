"""Ablation (the answers of an encoder without some heads, layers, feed-forwards or positions) and the importance of heads.

A head whose ablation changes nothing on one input may still be needed on others.

With one head changed at a time, the layers before it run once, and so does the attention of its own layer: replacing the
head's output z_h by z'_h adds (z'_h − z_h) W_O^h to the output of attention. The layers after it run on a batch that holds
several variants of the input, each with another head changed.

Importance estimates the effect of ablation by one backward pass per batch. Michel et al. 2019, "Are Sixteen Heads Really
Better than One?": I_h = E_x |z_hᵀ ∂L/∂z_h|, which is |dL/da| at a = 1 if the output of head h is a z_h.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor
from torch.nn import functional

from ..capture import collecting_activations, evaluation_mode
from ..capture.intervention import Intervention, without_keys
from ..capture.replacements import ReplacedHeads, Replacement, Zeroed
from ..config import ModelConfig
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import Transformer
from .batching import OutputOfStates, answers_of_changed_heads, batches, run_layer
from .masked_word import AnswerRead, MaskedWord, check_answer, log_probability, n_answers

HeadOutputs = Float[Tensor, "input head position d_v"]
# (layer, z) → what replaces z, of a shape that broadcasts to it
Replace = Callable[[int, HeadOutputs], Tensor]
HeadName = tuple[int, int]  # (layer, head)
# of z: over a data set the mean of the inputs' means, each over its positions
Means = Float[np.ndarray, "layer head d_v"]
AblationKind = Literal["zero"] | Means  # what replaces the output z of a head


class HeadAnswers(NamedTuple):
    """Answers to a batch of inputs, for several heads of one layer; `answers[i]` are those with the output of `heads[i]` replaced."""

    layer: int
    heads: list[int]
    answers: Float[Tensor, "head input answer"]


def change_each_head(
    model: Transformer,
    inputs: Tensor,
    replace: Replace,
    heads: Collection[HeadName] | None = None,
    answer: AnswerRead | OutputOfStates = None,
) -> Iterator[HeadAnswers]:
    """Yields the answers to the batch `inputs` with one head's output z replaced, for each of `heads` (None: all), layer by layer.

    `replace(layer, z)` returns the new z, [input, head, position, d_v] or broadcast to it. Answers are those of
    `model.experiments.batching.answers_of_final_states`. Replacements by a `watch` around this call take effect as well. The
    model must be in evaluation mode, without gradients.
    """
    mask, x = model.full_mask(inputs), model.embed(inputs)
    for layer in range(model.config.n_layers):
        layer_heads = [
            head for head in range(model.config.n_heads) if heads is None or (layer, head) in heads
        ]
        z, next_x = run_layer(model, x, mask, layer, "attention.z")
        if layer_heads:
            groups = [[head] for head in layer_heads]
            for chunk, answers in answers_of_changed_heads(
                model, layer, x, z, replace(layer, z), groups, inputs, mask, answer
            ):
                yield HeadAnswers(layer, [layer_heads[index] for index in chunk], answers)
        x = next_x


def stack_answers(
    steps: Iterable[HeadAnswers], config: ModelConfig
) -> Float[np.ndarray, "layer head input answer"]:
    """The answers of all `steps`, which `change_each_head` yields for all heads, in one array."""
    answers = torch.cat([step.answers for step in steps])
    return answers.unflatten(0, (config.n_layers, config.n_heads)).cpu().numpy()


def ablate_heads(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    ablation: AblationKind = "zero",
    answer: AnswerRead = None,
) -> Float32[np.ndarray, "input layer head answer"]:
    """Answers, as `model.experiments.probabilities.probabilities` returns them, with one head ablated at a time.

    The head's output z is replaced at every position by zeros ("zero"), or by the head's row of the means [layer, head, d_v]
    that are given as `ablation`. Inputs of equal length share a batch. Raises as `model.inputs.prepare` and
    `model.experiments.masked_word.check_answer` do, and ValueError for means of another shape than [layer, head, d_v], and
    another word than "zero".

    >>> from loupe import ablate_heads, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> ablate_heads(encoder, ["A gripping film."]).shape
    (1, 4, 4, 2)
    """
    config, replace = loaded.config, head_replacement(loaded, ablation)
    check_answer(loaded, inputs, answer)
    result = np.empty((len(inputs), config.n_layers, config.n_heads, n_answers(config, answer)), np.float32)
    with torch.inference_mode(), evaluation_mode(loaded.model):
        for rows, batch in batches(loaded, inputs):
            answers = stack_answers(change_each_head(loaded.model, batch, replace, answer=answer), config)
            result[rows] = np.moveaxis(answers, 2, 0)
    return result


def ablate_heads_in_steps(
    loaded: Loaded,
    model_input: InputLike,
    ablation: AblationKind = "zero",
    answer: AnswerRead = None,
) -> Iterator[HeadAnswers]:
    """Like `ablate_heads` for one input, but yields results after every few heads, so that the caller can stop early.

    The model is in evaluation mode and without gradients only while a result is computed, not while the caller uses it.
    """
    inputs, replace = prepare(loaded, model_input)[0], head_replacement(loaded, ablation)
    check_answer(loaded, [model_input], answer)
    steps = change_each_head(loaded.model, inputs, replace, answer=answer)
    while True:
        with torch.inference_mode(), evaluation_mode(loaded.model):
            if (step := next(steps, None)) is None:
                return
        yield step


def head_replacement(loaded: Loaded, ablation: AblationKind) -> Replace:
    """The `replace` of `change_each_head` for zeros ("zero") or for means. Raises ValueError as `ablate_heads` does."""
    if isinstance(ablation, str):
        if ablation != "zero":
            raise ValueError(
                f"an ablation is 'zero' or an array of means [layer, head, d_v], got {ablation!r}"
            )
        return lambda _, z: torch.zeros_like(z)
    config = loaded.config
    expected_shape = (config.n_layers, config.n_heads, config.d_v)
    if ablation.shape != expected_shape:
        raise ValueError(f"means of z must be of {expected_shape}, [layer, head, d_v], got {ablation.shape}")
    means = torch.tensor(ablation, dtype=torch.float32, device=loaded.device)
    return lambda layer, _: means[layer, :, None]


def ablated(
    heads: Sequence[HeadName] = (),
    layers: Sequence[int] = (),
    feed_forwards: Sequence[int] = (),
    positions: Sequence[int] = (),
    means: Means | None = None,
) -> Intervention:
    """An intervention that ablates the given heads, layers, feed-forward sublayers and positions together.

    The output z of `heads`, pairs (layer, head), and of all heads of `layers`, is replaced by zeros, or by each head's row
    of `means` [layer, head, d_v]. W_O is still applied, bias included. The output of the feed-forwards in the layers
    `feed_forwards`, second bias included, is always replaced by zeros. `positions` are masked as keys in all layers and
    heads. Raises IndexError if the means lack a head.

    >>> from loupe import ablated, capture, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> record = capture(encoder, "A gripping film.", ablated(heads=[(0, 1)]))
    >>> float(abs(record.z[0, 1]).max())
    0.0
    """
    heads_by_layer: dict[int, set[int]] = {}
    for layer, head in heads:
        heads_by_layer.setdefault(layer, set()).add(head)
    if means is not None:
        heads_by_layer |= {layer: set(range(means.shape[1])) for layer in layers}
    replacements: list[tuple[str, Replacement]] = [
        (f"blocks.{layer}.attention.z", _replace_heads(sorted(head_set), layer, means))
        for layer, head_set in sorted(heads_by_layer.items())
    ]
    if means is None:
        replacements += [(f"blocks.{layer}.attention.z", Zeroed()) for layer in sorted(set(layers))]
    replacements += [(f"blocks.{layer}.feed_forward_out", Zeroed()) for layer in sorted(set(feed_forwards))]
    intervention = Intervention(replacements=tuple(replacements))
    return intervention + without_keys(*sorted(set(positions))) if positions else intervention


def _replace_heads(heads: list[int], layer: int, means: Means | None) -> ReplacedHeads:
    if means is None:
        return ReplacedHeads(tuple(heads))
    return ReplacedHeads(tuple(heads), tuple(tuple(means[layer, head].tolist()) for head in heads))


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
    """The result of `importance` for a batch of inputs of equal length; without labels, the predicted classes are the labels."""
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
