"""`from_transformers(model, tokenizer, input)` makes a record of one input in a Hugging Face model object of any family.

`transformers` itself is not imported: only methods of the given objects are called.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor, nn

from ..files.errors import single_line
from ..record import AttentionRecord
from ..record.from_arrays import EAGER, from_arrays, positions
from .model_tokens import picture_positions, token_positions, tokenizer_encoding
from .returned_weights import inner_model_sentence, refuse_block_sparse_attention, weights_between_positions

# Arguments whose first axis is that of the inputs.
_BATCHED_ARGUMENTS = (
    "input_ids",
    "inputs_embeds",
    "pixel_values",
    "input_values",
    "input_features",
    "past_values",
    "inputs",
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelRecord(AttentionRecord):
    """The attention of one input in a model outside this project, with hidden states and logits if the model returns them.

    `save_record` stores the attention alone, which is all that the app shows.
    """

    hidden_states: Float32[np.ndarray, "state query d_model"] | None = None
    logits: Float32[np.ndarray, "..."] | None = None  # of classes, or [query, class]


def from_transformers(model: Any, tokenizer: Any, model_input: Any) -> ModelRecord:
    """A record of one input in a Hugging Face model object of any family, a decoder too; of an encoder-decoder, its encoder.

    `tokenizer` is the model's tokenizer, and `model_input` a text or a pair of texts; or else its image processor and a picture
    (a PIL image or an array); or `model_input` holds the model's arguments by name, as tensors of a batch of 1. The
    model runs with eager attention, in evaluation mode; both settings are restored afterwards. Keys to which no head of a
    layer attends at all, as those after the query under a causal mask or outside of Longformer's window, are masked in the record.

    The grid of a picture's patches is taken from the model's configuration. Positions that are neither tokens nor patches of a
    picture (audio frames, time steps, latents, patches of a video) are numbered from 0.

    Raises ValueError if the model cannot run on the input, or if it returns no attention weights, or others than
    [head, query, key] in each layer.

    >>> from loupe import from_transformers
    >>> from_transformers(model, tokenizer, "A gripping film.")  # doctest: +SKIP
    ModelRecord(6 tokens '[CLS] a gripping film . [SEP]', 12 layers × 12 heads)
    """
    _check_model_and_tokenizer(model, tokenizer)
    part, name = _encoder_for(model, model_input), type(model).__name__
    arguments = _forward_arguments(part, tokenizer, model_input)

    refuse_block_sparse_attention(model)

    def first_states(arguments: Mapping[str, Any]) -> Any:
        return part(**arguments, output_hidden_states=True, return_dict=True).hidden_states[0]

    with _eager_attention(model), _in_evaluation_mode(model), torch.no_grad():
        try:
            outputs = part(**arguments, output_attentions=True, output_hidden_states=True, return_dict=True)
        except (RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
            if inner := inner_model_sentence(model):
                raise ValueError(inner) from error
            sizes = ", ".join(
                f"{key} {list(value.shape) if isinstance(value, Tensor) else value}"
                for key, value in arguments.items()
            )
            main_input = getattr(part, "main_input_name", None)
            is_read = main_input is None or not {main_input, "inputs_embeds"}.isdisjoint(arguments)
            reason = single_line(str(error)) if is_read else f"it reads {main_input}"
            raise ValueError(f"{name} does not run on this input ({sizes}): {reason}") from error
        attentions = weights_between_positions(model, part, arguments, outputs)
        attention = _attention_record(
            part, tokenizer, model_input, arguments, attentions, outputs, first_states
        )
    is_ever_attended = attention.pattern.max(axis=1, keepdims=True) > 0
    return ModelRecord(
        pattern=attention.pattern,
        mask=np.broadcast_to(is_ever_attended, attention.pattern.shape),
        hidden_states=_stacked_states(getattr(outputs, "hidden_states", None)),
        logits=_first_of_batch(getattr(outputs, "logits", None)),
        **positions(attention),
    )


def _check_model_and_tokenizer(model: Any, tokenizer: Any) -> None:
    """Raises ValueError unless these are a model and a tokenizer or image processor of transformers, as far as can be told."""
    if not isinstance(model, nn.Module) or isinstance(model, nn.Sequential):
        raise ValueError(
            f"the first argument must be a model object of transformers, got {type(model).__name__}; "
            "of a SentenceTransformer it is model[0].auto_model, with model.tokenizer"
        )
    if tokenizer is None or isinstance(tokenizer, str | nn.Module):
        raise ValueError(
            f"the second argument must be the model's tokenizer or image processor, got {type(tokenizer).__name__}"
        )


def _encoder_for(model: Any, model_input: Any) -> Any:
    """The module that reads the input: the encoder of an encoder-decoder; of a model for texts and pictures, such as
    CLIP, its encoder for this kind of input; else the model itself.
    """
    config = getattr(model, "config", None)
    if getattr(config, "is_encoder_decoder", False) and hasattr(model, "get_encoder"):
        return model.get_encoder()
    if hasattr(model, "text_model") and hasattr(model, "vision_model"):
        reads_pictures = (
            "pixel_values" in model_input if isinstance(model_input, Mapping) else not _is_text(model_input)
        )
        return model.vision_model if reads_pictures else model.text_model
    return model


def _is_text(model_input: Any) -> bool:
    return isinstance(model_input, str) or (
        isinstance(model_input, tuple)
        and len(model_input) == 2
        and all(isinstance(text, str) for text in model_input)
    )


def _forward_arguments(part: nn.Module, tokenizer: Any, model_input: Any) -> dict[str, Any]:
    """The arguments by name of the `forward` of `part`: tensors on its device, and Boolean flags."""
    if isinstance(model_input, Mapping):
        arguments = dict(model_input)
    elif _is_text(model_input):
        texts = (model_input,) if isinstance(model_input, str) else model_input
        arguments = _tokenizer_output(tokenizer, *texts)
    elif isinstance(model_input, list | tuple):
        raise ValueError(
            f"a record is of one input, got {len(model_input)}: call from_transformers for each; "
            "a pair of texts is a tuple"
        )
    elif hasattr(tokenizer, "convert_ids_to_tokens"):
        raise ValueError(
            f"the input must be a text, a pair of texts, or the model's arguments by name, got {type(model_input).__name__}; "
            "for a picture pass the image processor in place of the tokenizer"
        )
    else:
        arguments = _tokenizer_output(tokenizer, model_input)
    parameters = inspect.signature(part.forward).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    device = next((parameter.device for parameter in part.parameters()), None)
    tensors = {
        name: value.to(device)
        for name, value in arguments.items()
        if isinstance(value, Tensor) and (takes_any or name in parameters)
    }
    for name in _BATCHED_ARGUMENTS:
        if name in tensors and len(tensors[name]) != 1:
            raise ValueError(f"a record is of one input, but {name} holds {len(tensors[name])}")
    if not tensors:
        if inner := inner_model_sentence(part):
            raise ValueError(inner)
        if any(isinstance(value, Tensor) for value in arguments.values()):
            raise ValueError(
                f"{type(part).__name__} takes none of {', '.join(arguments)}; it takes {', '.join(parameters)}"
            )
        raise ValueError('the input holds no tensors: call the tokenizer with return_tensors="pt"')
    if not min(value.numel() for value in tensors.values()):
        raise ValueError("the input has no tokens")
    if "input_ids" in tensors and not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise ValueError(
            f"the second argument must be the model's tokenizer, which names the tokens, got {type(tokenizer).__name__}; "
            "of a processor it is processor.tokenizer"
        )
    flags = {
        name: value for name, value in arguments.items() if isinstance(value, bool) and name in parameters
    }
    return tensors | flags


def _tokenizer_output(tokenizer: Any, *inputs: Any) -> dict[str, Any]:
    """The output of the tokenizer, or of the image or audio processor, for the input. Raises ValueError if it cannot read it."""
    try:
        return dict(tokenizer(*inputs, return_tensors="pt"))
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        raise ValueError(
            f"{type(tokenizer).__name__} cannot read this {type(inputs[0]).__name__}: {single_line(str(error))}"
        ) from error


@contextmanager
def _eager_attention(model: Any) -> Iterator[None]:
    """Context manager in which the model uses eager attention, the only implementation that returns attention weights."""
    former_attention = getattr(getattr(model, "config", None), "_attn_implementation", None)
    if former_attention in (None, "eager") or not hasattr(model, "set_attn_implementation"):
        yield
        return
    try:
        model.set_attn_implementation("eager")
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(model).__name__} cannot change its attention; {EAGER}") from error
    try:
        yield
    finally:
        model.set_attn_implementation(former_attention)


@contextmanager
def _in_evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Context manager in which all parts of the model are in evaluation mode."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _attention_record(
    part: Any,
    tokenizer: Any,
    model_input: Any,
    arguments: Mapping[str, Any],
    attentions: list[Tensor],
    outputs: Any,
    first_states: Callable[[Mapping[str, Any]], Any],
) -> AttentionRecord:
    n = attentions[0].shape[-1]
    if "input_ids" not in arguments or hasattr(getattr(part, "config", None), "num_latents"):
        states = getattr(outputs, "hidden_states", None)
        labels = picture_positions(part, arguments, first_states, n, states)
        return from_arrays(attentions, labels.tokens, roles=labels.roles, patch_grid=labels.patch_grid)
    n_tokens = arguments["input_ids"].shape[1]
    if n_tokens != n:
        raise ValueError(
            f"{type(part).__name__} attends between {n} positions, but the input has {n_tokens} tokens: the others, such as "
            "those of a picture or a prompt, have no names"
        )
    ids = arguments["input_ids"][0].tolist()
    words = token_positions(tokenizer, ids, tokenizer_encoding(tokenizer, model_input, ids))
    return from_arrays(
        attentions,
        words.tokens,
        roles=words.roles,
        pieces=words.pieces,
        continuing_prefix=words.continuing_prefix,
    )


def _stacked_states(states: Any) -> np.ndarray | None:
    """The states after each layer, stacked to [state, query, d_model]; None if there are none, or they have other shapes."""
    if not states or len({state.shape for state in states}) > 1 or states[0].ndim != 3:
        return None
    return np.stack([state[0].float().cpu().numpy() for state in states])


def _first_of_batch(values: Any) -> np.ndarray | None:
    return values[0].float().cpu().numpy() if isinstance(values, Tensor) else None
