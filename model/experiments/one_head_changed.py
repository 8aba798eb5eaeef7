"""The answers with the output of one head replaced at a time; computations that do not change are shared by all heads.

The layers before the changed head run once, and so does the attention of its own layer. Replacing z_h by z'_h adds (z'_h −
z_h) W_O^h to the output of attention, so this is not computed anew. The layers after it run in batches of several changed
heads.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from ..capture import evaluation_mode
from ..config import ModelConfig
from ..hooks import watch
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..transformer import Transformer
from .batching import answers_after_attention, batch_size, chunks, repeated
from .masked_word import AnswerRead, check_answer

HeadOutputs = Float[Tensor, "input head position d_v"]
# (layer, z) → what replaces z, of a shape that broadcasts to it
Replace = Callable[[int, HeadOutputs], Tensor]
HeadName = tuple[int, int]  # (layer, head)
# Batches a quarter of the usual size: an eighth faster at 256 tokens, elsewhere the same.
FRACTION = 4


class HeadAnswers(NamedTuple):
    """Answers to a batch of inputs with one head's output replaced at a time, for several heads of one layer."""

    layer: int
    heads: list[int]
    answers: Float[Tensor, "head input answer"]


def change_each_head(
    model: Transformer,
    inputs: Tensor,
    replace: Replace,
    heads: Collection[HeadName] | None = None,
    answer: AnswerRead = None,
) -> Iterator[HeadAnswers]:
    """Yields the answers to a batch with one head's output z replaced, for each of `heads` (None: all), layer by layer.

    The answers are those of `model.experiments.batching.read_answers`.
    Replacements by a `watch` around this call take effect, too. The model must be in evaluation mode, without gradients.
    """
    mask, x = model.full_mask(inputs), model.embed(inputs)
    chunk_size = max(1, batch_size(model.config, x.shape[1]) // (FRACTION * len(inputs)))
    for layer, block in enumerate(model.blocks):
        layer_heads = [
            head for head in range(model.config.n_heads) if heads is None or (layer, head) in heads
        ]
        outputs: list[HeadOutputs] = []
        with watch(model, {f"blocks.{layer}.attention.z": outputs.append}):
            next_x = model.run_blocks(x, mask, layer, layer + 1)
        if layer_heads:
            (z,) = outputs
            attention_output, difference = block.attention.project(z), replace(layer, z) - z
            # the rows of W_O that belong to a head: [head, d_v, d_model]
            weights = block.attention.w_o.weight.T.unflatten(0, (model.config.n_heads, -1))
            for chunk in chunks(layer_heads, chunk_size):
                changed_outputs = torch.cat(
                    [attention_output + difference[:, head] @ weights[head] for head in chunk]
                )
                answers = answers_after_attention(
                    model, layer, repeated(x, len(chunk)), changed_outputs, inputs, mask, answer
                )
                yield HeadAnswers(layer, chunk, answers)
        x = next_x


def change_each_head_of_input(
    loaded: Loaded, model_input: InputLike, replace: Replace, answer: AnswerRead = None
) -> Iterator[HeadAnswers]:
    """Like `change_each_head`, for one input and all heads; while the caller handles a result, torch's modes are as it set
    them.

    Raises as `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do.
    """
    inputs = prepare(loaded, model_input)[0]
    check_answer(loaded, [model_input], answer)
    steps = change_each_head(loaded.model, inputs, replace, answer=answer)
    while True:
        with torch.inference_mode(), evaluation_mode(loaded.model):
            if (step := next(steps, None)) is None:
                return
        yield step


def stack_answers(
    steps: Iterable[HeadAnswers], config: ModelConfig
) -> Float32[np.ndarray, "layer head input answer"]:
    """The answers of all `steps` in one array; the steps must cover all heads in order."""
    answers = torch.cat([step.answers for step in steps])
    return answers.unflatten(0, (config.n_layers, config.n_heads)).cpu().numpy()
