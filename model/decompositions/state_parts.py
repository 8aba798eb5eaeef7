"""Linear functions of states, divided among the parts whose sum each state is (`model.decompositions`)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ..capture import activations
from ..hooks import hook_points, watch
from ..huggingface.encoder import ImportedEmbedding
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..parts.block import LinearNorm, bias_by_head
from ..record import Positions
from ..transformer import Transformer

NEAR_ZERO = 1e-6  # for a u closer to 0, the ratio a(u) / u of an activation function is taken at this u


class Linearised(TorchFunctionMode):
    """Context manager in which modules compute their usual output, but as a linear function of their input and of
    `bias_factor`, a tensor of 1 that multiplies each bias.

    So the output is input · its gradient + `bias_factor` · its gradient. The following is held constant (has no
    gradient): a norm's divisor, the length by which a vector is divided, attention weights, and the ratio a(u) / u of
    each unit of an activation function.
    """

    def __init__(self, bias_factor: Float[Tensor, " 1"]) -> None:
        super().__init__()
        self.bias_factor = bias_factor

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        name, kwargs = function.__name__, kwargs or {}
        match name:
            case "linear":
                x, weight, bias = (*args, kwargs.get("bias"))[:3]
                return functional.linear(x, weight, None if bias is None else self.bias_factor * bias)
            case "layer_norm" | "rms_norm":
                (x, _), gain, shift = args, kwargs["weight"], kwargs.get("bias")
                shift = torch.zeros_like(gain) if shift is None else shift
                norm = LinearNorm(name == "layer_norm", kwargs["eps"], gain, shift)
                return norm.centre(x) / norm.divisor(x).detach() * gain + self.bias_factor * shift
            case "normalize":
                return args[0] / args[0].detach().norm(dim=-1, keepdim=True)
            case "gelu" | "relu" | "silu" | "tanh":
                u = torch.where(args[0].abs() < NEAR_ZERO, NEAR_ZERO, args[0]).detach()
                return args[0] * (function(u, **kwargs) / u)
            case "sigmoid" | "softmax":
                return function(*args, **kwargs).detach()
        return function(*args, **kwargs)


States = Float[Tensor, "position d_model"]
StateFunction = Callable[
    [States], Float[Tensor, " number"]
]  # linear in states and biases where divisors are `Linearised`
POOLING_FEED_FORWARD = "attention_pooling.feed_forward_out"


class Part(NamedTuple):
    """A part of a state: `kind` is token (in a picture: patch, class token or register), token type, position, head, feed-forward,
    pooling feed-forward, relative position or biases.
    """

    kind: str
    layer: int | None = None
    head: int | None = None
    read_from: int | None = None  # position of the token that this share of a head's part was read from

    def name(self, labels: Sequence[str]) -> str:
        """Name of the part, such as "L0 H2", "L0 feed-forward" or "biases"; with `read_from` "L0 H2 from 3 not", where
        "3 not" is that position's label among `labels`.
        """
        if self.layer is None:
            return self.kind
        name = f"L{self.layer} {self.kind}" if self.head is None else f"L{self.layer} H{self.head}"
        return name if self.read_from is None else f"{name} from {labels[self.read_from]}"


class ForwardPass(NamedTuple):
    """Recorded activations of one forward pass on one input, without the batch axis."""

    model: Transformer
    inputs: Tensor
    positions: Positions
    activations: Mapping[str, Float[Tensor, "..."]]  # activations, by the name of the hook point
    by_token: bool  # whether the parts of heads are to be divided by the token that they were read from

    def states(self, n_layers: int) -> States:
        """The residual stream after the first `n_layers` layers, before any norm that follows."""
        return self.activations[_hook_after(n_layers)]


def _hook_after(n_layers: int) -> str:
    """Name of the hook point of the residual stream after the first `n_layers` layers."""
    return f"blocks.{n_layers - 1}.resid_post" if n_layers else "embedding.output"


def forward_pass(
    loaded: Loaded, model_input: InputLike, n_layers: int, names: Collection[str] = (), *, by_token: bool
) -> ForwardPass:
    """Records the activations that `divide_among_parts` needs of the first `n_layers` layers, and those at `names`, where the encoder has them."""
    block_hooks = ["attention.z", "attention_out", "feed_forward_out"] + [
        "attention.pattern",
        "attention.v",
    ] * by_token
    hook_names = ["embedding.content", "embedding.positions", _hook_after(n_layers)]
    hook_names += [f"blocks.{layer}.{name}" for layer in range(n_layers) for name in block_hooks]
    hook_names += [name for name in names if name in hook_points(loaded.model)]
    inputs, positions = prepare(loaded, model_input)
    recorded = activations(loaded, [model_input], hook_names)
    recorded = {name: activation[0] for name, activation in recorded.items()}
    return ForwardPass(loaded.model, inputs, positions, recorded, by_token)


def parts_frame(
    parts: list[Part], positions: Positions, values: Float64[np.ndarray, " part"]
) -> pd.DataFrame:
    """A row for each part: `part` (its name), `kind`, `layer`, `head`, `read_from` (NA where it has none) and `value`."""
    labels = positions.labels
    columns = dict(zip(Part._fields, zip(*parts, strict=True), strict=True))
    numbers = {name: pd.array(columns[name], dtype="Int64") for name in ("layer", "head", "read_from")}
    names = [part.name(labels) for part in parts]
    return pd.DataFrame({"part": names, "kind": columns["kind"], **numbers, "value": values})


def divide_among_parts(
    forward: ForwardPass, n_layers: int, function: StateFunction
) -> tuple[list[Part], Float[Tensor, "part number"]]:
    """Divides numbers, a `function` of the states after the first `n_layers` layers, among the parts of these states.

    Returns the parts, and for each what it adds to each number: the part times the gradient of the number with respect to it, where
    the states are the sum of the recorded parts and all divisors are held constant. In post-LN, LN(αx + F), and in B2T,
    LN(x + h + F), the norm also scales the parts of earlier layers; α is the factor of the skip connection. A recorded feed-forward
    of attention pooling is a part of its own.
    """
    model, recorded = forward.model, forward.activations
    final_states = _with_gradient(forward.states(n_layers))
    bias_factor = _with_gradient(final_states.new_ones(1))
    other_parts, watchers = {Part("biases"): bias_factor}, {}
    if POOLING_FEED_FORWARD in recorded:
        pooling_part = other_parts[Part("pooling feed-forward")] = _with_gradient(
            recorded[POOLING_FEED_FORWARD][None]
        )
        watchers[POOLING_FEED_FORWARD] = lambda _: pooling_part
    with torch.enable_grad(), Linearised(bias_factor), watch(model, watchers):
        (g,) = torch.autograd.grad(function(final_states).sum(), final_states)
        positions = g.any(dim=-1).nonzero()[:, 0]  # that are read
        parts, bias = _embedding_parts(forward, positions)
        x = model.embedding.norm(sum(parts.values()) + bias_factor * bias)
        for layer, block in enumerate(model.blocks[:n_layers]):
            b_o = bias_by_head(block.attention.w_o)
            heads = _with_gradient(recorded[f"blocks.{layer}.attention_out"][positions] - b_o)
            feed_forward_out = _with_gradient(recorded[f"blocks.{layer}.feed_forward_out"][positions])
            parts |= {Part("head", layer): heads, Part("feed-forward", layer): feed_forward_out}
            is_pre, is_b2t = block.norm_placement == "pre", block.norm_placement == "b2t"
            norm, next_norm = (
                nn.Identity() if is_pre else norm for norm in (block.norm_attention, block.norm_feed_forward)
            )
            h = norm(block.skip * x + heads + bias_factor * b_o)
            x = next_norm(block.skip * h + feed_forward_out + (x if is_b2t else 0.0))
        # all without a bias still have a gradient of 0 with respect to `bias_factor`
        numbers = function(final_states.detach().index_copy(0, positions, x)) + 0 * bias_factor
    parts |= other_parts
    basis = torch.eye(len(numbers)).to(numbers)
    gradients = torch.autograd.grad(numbers, [*parts.values()], basis, is_grads_batched=True)
    divided_parts, values = list[Part](), list[Tensor]()
    for (part, vectors), g in zip(parts.items(), gradients, strict=True):
        if part.layer is None or part.kind != "head":
            products = g.flatten(1) @ vectors.detach().flatten()
        else:
            attention, name = model.blocks[part.layer].attention, f"blocks.{part.layer}.attention"
            g_z = (g @ attention.w_o.weight).unflatten(-1, (attention.n_heads, -1))
            if forward.by_token:  # Σ_i g_i · A_ij v_j
                # queries first: a number for each query and key would fill gigabytes for 20 texts and 729 patches
                key_weights = torch.einsum("nqhd,hqk->nhkd", g_z, recorded[f"{name}.pattern"][:, positions])
                products = torch.einsum("nhkd,hkd->hkn", key_weights, recorded[f"{name}.v"])
            else:
                products = torch.einsum("nqhd,hqd->hn", g_z, recorded[f"{name}.z"][:, positions])
        indices = product(*map(range, products.shape[:-1]))  # head, and the position that it read
        divided_parts += [Part(part.kind, part.layer, *index) for index in indices]
        values.append(products.reshape(-1, len(numbers)))
    return divided_parts, torch.cat(values)


def _embedding_parts(
    forward: ForwardPass, positions: Int[Tensor, " position"]
) -> tuple[dict[Part, Float[Tensor, "position width"]], Tensor | float]:
    """Parts of the embedding at `positions`, before its norm, and the bias of the patch projection in it, 0 for text."""
    embedding, config = forward.model.embedding, forward.model.config
    token, position = (
        forward.activations[f"embedding.{name}"][positions] for name in ("content", "positions")
    )
    parts: dict[Part, Tensor] = {Part("token"): token}
    bias: Tensor | float = 0.0
    if isinstance(embedding, ImportedEmbedding) and embedding.types is not None:
        types = embedding.types(forward.inputs[0, positions] // embedding.vocab_size)
        parts |= {Part("token"): token - types, Part("token type"): types}
    if config.positions != "none":
        parts[Part("position")] = position
    if not config.is_text:
        bias = (positions >= config.n_before_patches)[:, None] * embedding.patches.bias * embedding.scale
        parts[Part("token")] = token - bias
    return {part: _with_gradient(vectors) for part, vectors in parts.items()}, bias


def _with_gradient(vectors: Tensor) -> Tensor:
    """A copy of the vectors as a leaf tensor, with respect to which autograd computes gradients."""
    return vectors.detach().clone().requires_grad_()
