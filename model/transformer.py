"""The encoder, from top to bottom: embedding, attention, feed-forward, block, model.

Read it beside "Attention Is All You Need" (Vaswani et al. 2017) and "On Layer Normalization in the
Transformer Architecture" (Xiong et al. 2020); `Block.after_attention` holds the four placements of the norm.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from .activations import ACTIVATIONS
from .config import ModelConfig
from .hooks import HookPoint
from .masks import FullMask, LayerMask, Mask, combine_with_padding, real_positions

States = Float[Tensor, "batch position d_model"]
# Token ids, or pictures with values from 0 to 1.
Inputs = Int[Tensor, "batch position"] | Float[Tensor, "batch *colour height width"]


def sinusoidal(n_positions: int, d_model: int) -> Float[Tensor, "{n_positions} {d_model}"]:
    """Position vectors: PE(t, 2k) = sin(t / 10000^(2k/d_model)), PE(t, 2k+1) = cos of the same (Vaswani et al., 3.5)."""
    position = torch.arange(n_positions)[:, None]
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


def fixed_positions(config: ModelConfig) -> Float[Tensor, "n_positions d_model"]:
    """Position vectors that are not learned: sinusoidal, or zeros for an encoder without position vectors."""
    if config.positions == "none":
        return torch.zeros(config.n_positions, config.d_model)
    return sinusoidal(config.n_positions, config.d_model)


class Embedding(nn.Module):
    """Maps tokens or patches to vectors and adds position vectors."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d_model = config.d_model
        self.patch_size = config.patch_size
        self.scale = math.sqrt(d_model) if config.embedding_scaled else 1.0
        self.pixel_mean, self.pixel_std = config.pixel_mean, config.pixel_std
        if config.vocab_size is not None:
            self.tokens = nn.Embedding(config.vocab_size, d_model, padding_idx=config.padding_id)
        else:
            self.patches = nn.Linear(config.n_patch_values, d_model)
        # Text brings its class token along as [CLS]; patches need one of their own.
        needs_class_token = config.pooling == "class" and not config.is_text
        self.class_token = nn.Parameter(torch.zeros(d_model)) if needs_class_token else None
        if config.positions == "learned":
            self.position_table = nn.Parameter(torch.empty(config.n_positions, d_model).normal_(std=0.02))
        else:
            self.register_buffer("position_table", fixed_positions(config), persistent=False)
        self.norm = layer_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout_embedding)
        self.content, self.positions, self.output = HookPoint(), HookPoint(), HookPoint()

    def forward(self, inputs: Inputs) -> States:
        content = self.content(self.look_up(inputs))
        positions = self.positions(self.position_table[: content.shape[1]].expand(len(content), -1, -1))
        return self.output(self.dropout(self.norm(content + positions)))

    def look_up(self, inputs: Inputs) -> States:
        """Content vectors without positions: token embeddings, or the class token followed by the projected patches."""
        if self.patch_size is None:
            return self.tokens(inputs) * self.scale
        pixels = (inputs - self.pixel_mean) / self.pixel_std
        content = self.patches(cut_patches(pixels, self.patch_size)) * self.scale
        if self.class_token is None:
            return content
        return torch.cat((self.class_token.expand(len(content), 1, -1), content), dim=1)


def cut_patches(
    images: Float[Tensor, "batch *colour height width"], size: int | tuple[int, ...]
) -> Float[Tensor, "batch patch pixel"]:
    """Patches row by row, each flattened as [colour, row, column]; `size` is the side of a square, or height and width."""
    images = images[:, None] if images.ndim == 3 else images
    return functional.unfold(images, size, stride=size).transpose(1, 2)


def layer_norm(config: ModelConfig) -> nn.LayerNorm:
    return nn.LayerNorm(config.d_model, eps=config.layer_norm_eps)


class Attention(nn.Module):
    """Multi-head attention: softmax(q kᵀ / sqrt(d_k)) v for each head, concatenated and projected (Vaswani et al., 3.2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.scale = math.sqrt(config.d_k)  # so that scores keep their variance for every d_k
        self.w_q = nn.Linear(config.d_model, config.n_heads * config.d_k)
        shared = self.w_q if config.shared_qkv else None
        self.w_k = shared or nn.Linear(config.d_model, config.n_heads * config.d_k)
        self.w_v = shared or nn.Linear(config.d_model, config.n_heads * config.d_v)
        self.w_o = nn.Linear(config.n_heads * config.d_v, config.d_model)
        self.dropout = nn.Dropout(config.dropout_pattern)
        self.q, self.k, self.v = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.pattern, self.z = HookPoint(), HookPoint(), HookPoint()

    def forward(self, x: States, mask: LayerMask | None = None) -> States:
        """Output of the attention at every position: its heads' weighted sums of values, projected by W_O."""
        q = self.q(self._split_heads(self.w_q(x)))
        k = self.k(self._split_heads(self.w_k(x)))
        v = self.v(self._split_heads(self.w_v(x)))
        scores = self.scores(self.score(q, k))
        pattern = self.pattern(masked_softmax(scores, mask))
        return self.project(self.z(self.dropout(pattern) @ v))

    def score(
        self, q: Float[Tensor, "batch head query d_k"], k: Float[Tensor, "batch head key d_k"]
    ) -> Float[Tensor, "batch head query key"]:
        """Scores of every query and key: q kᵀ / sqrt(d_k)."""
        return q / self.scale @ k.transpose(-2, -1)

    def project(self, z: Float[Tensor, "batch head query d_v"]) -> States:
        """Concatenates the outputs of the heads and multiplies them by W_O."""
        return self.w_o(z.transpose(1, 2).flatten(2))

    def _split_heads(
        self, x: Float[Tensor, "batch position width"]
    ) -> Float[Tensor, "batch head position d_head"]:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


def masked_softmax(
    scores: Float[Tensor, "*axes query key"], mask: Bool[Tensor, "..."] | None
) -> Float[Tensor, "*axes query key"]:
    """Softmax over the keys that the mask allows; a row without an allowed key is all zeros."""
    if mask is None:
        return scores.softmax(dim=-1)
    # The lowest finite number and not -inf: exp of it is 0 just as well, while a fully masked row
    # stays finite, also in the backward pass, until it is made zero.
    is_masked = ~mask
    pattern = scores.masked_fill(is_masked, torch.finfo(scores.dtype).min).softmax(dim=-1)
    # A GPU would have to finish all that it was given before it could answer.
    has_keys = mask.is_cpu and mask.any(dim=-1).all()
    return pattern if has_keys else pattern.masked_fill(is_masked, 0.0)


class FeedForward(nn.Module):
    """Two linear maps with an activation function between them, applied to each position separately."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.d_model, config.d_ff)
        self.activation = ACTIVATIONS[config.activation]()
        self.dropout = nn.Dropout(config.dropout_activation)
        self.contract = nn.Linear(config.d_ff, config.d_model)
        self.hidden = HookPoint()

    def forward(self, x: States) -> States:
        return self.contract(self.dropout(self.hidden(self.activation(self.expand(x)))))


class Block(nn.Module):
    """One layer: attention, then feed-forward, each added to the residual stream."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm_placement = config.norm_placement
        # α, how much of x goes past a sublayer: all of it, or nothing without residual connections.
        self.skip = float(config.residual)
        if config.norm_placement == "deepnorm":  # (2N)^(1/4) in an encoder (Wang et al. 2022, figure 2)
            self.skip = (2 * config.n_layers) ** 0.25
        self.norm_attention = layer_norm(config)
        self.attention_in = HookPoint()
        self.attention = Attention(config)
        self.attention_out, self.resid_mid = HookPoint(), HookPoint()
        self.norm_feed_forward = layer_norm(config)
        self.feed_forward_in = HookPoint()
        self.feed_forward = FeedForward(config)
        self.feed_forward_out, self.resid_post = HookPoint(), HookPoint()
        self.dropout = nn.Dropout(config.dropout_sublayer)

    def forward(self, x: States, mask: LayerMask | None = None) -> States:
        return self.after_attention(x, self.attend(x, mask))

    def attend(self, x: States, mask: LayerMask | None = None) -> States:
        """Output of the attention for the block's input `x`, which is normalised first in pre-LN."""
        attention_input = self.norm_attention(x) if self.norm_placement == "pre" else x
        return self.attention(self.attention_in(attention_input), mask)

    def after_attention(self, x: States, attended: States) -> States:
        """Output of the block, from its input `x` and the output `attended` of its attention."""
        attended = self.attention_out(self.dropout(attended))
        if self.norm_placement == "pre":  # αx + F(LN(x)), with α = 1
            x = self.resid_mid(self._add(x, attended))
            x = self.resid_post(self._add(x, self._run_feed_forward(self.norm_feed_forward(x))))
        elif self.norm_placement in ("post", "deepnorm"):  # LN(αx + F(x)); in post-LN α = 1
            x = self.resid_mid(self.norm_attention(self._add(x, attended)))
            x = self.resid_post(self.norm_feed_forward(self._add(x, self._run_feed_forward(x))))
        else:  # h = LN(x + F(x)), LN(x + h + F(h)): the B2T connection (Takase et al. 2022)
            h = self.resid_mid(self.norm_attention(x + attended))
            x = self.resid_post(self.norm_feed_forward(x + h + self._run_feed_forward(h)))
        return x

    def _add(self, x: States, output: States) -> States:
        """αx + F(x), where `output` is F(x), in one step: on a GPU that takes half the time of two."""
        return torch.add(output, x, alpha=self.skip)

    def _run_feed_forward(self, x: States) -> States:
        output = self.feed_forward(self.feed_forward_in(x))
        return self.feed_forward_out(self.dropout(output))


class MaskedTokenOutput(nn.Module):
    """Output layer for masked tokens: a hidden layer, then products with the token embeddings (Devlin et al. 2019)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.transform = nn.Linear(config.d_model, config.d_model)
        self.activation = ACTIVATIONS["gelu" if config.activation == "relu" else config.activation]()
        self.norm = layer_norm(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size or 0))

    def forward(
        self, states: Float[Tensor, "masked d_model"], embedding: Float[Tensor, "vocab d_model"]
    ) -> Float[Tensor, "masked vocab"]:
        states = self.norm(self.activation(self.transform(states)))
        return functional.linear(states, embedding, self.bias)


class Transformer(nn.Module):
    """An encoder and a classifier, which reads the encoder's pooled output."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config)
        self.blocks: Sequence[Block] = nn.ModuleList(  # type: ignore[assignment]  # it is not generic
            Block(config) for _ in range(config.n_layers)
        )
        self.final_norm = layer_norm(config) if config.final_norm else nn.Identity()
        self.classifier = nn.Linear(config.d_model, config.n_classes) if config.n_classes else nn.Identity()
        self.masked_token_output = MaskedTokenOutput(config) if config.masked_token_output else None
        self.logits = HookPoint()
        self._initialise()
        if config.norm_placement == "deepnorm":
            self.shrink_sublayers()

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                # 1/sqrt(d_model), so that scaled embeddings have unit variance (Vaswani et al., 3.4)
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5)
                if module.padding_idx is not None:
                    nn.init.zeros_(module.weight[module.padding_idx])

    @torch.no_grad()
    def shrink_sublayers(self) -> None:
        """Multiplies the weights of feed-forward, V and O by DeepNorm's β = (8N)^(-1/4) (Wang et al. 2022, figure 2)."""
        beta = (8 * self.config.n_layers) ** -0.25
        for block in self.blocks:
            attention, feed_forward = block.attention, block.feed_forward
            for linear in (attention.w_v, attention.w_o, feed_forward.expand, feed_forward.contract):
                linear.weight.mul_(beta)

    def forward(self, inputs: Inputs, mask: Mask | None = None) -> Float[Tensor, "batch class"]:
        """Logits of the inputs; without a classifier, their pooled states.

        `mask` is True where a query may attend to a key, of shape [query, key], or broadcasts to [batch, layer, head, query,
        key]; padding is masked as well. Raises ValueError for input with too many tokens or of the wrong size, and for a mask of the wrong shape.
        """
        return self.logits(self.classify(self.encode(inputs, mask), inputs))

    def encode(self, inputs: Inputs, mask: Mask | None = None) -> States:
        """States after the last block and the final norm, if the encoder has one. Raises as `forward` does."""
        return self.final_norm(self.run_blocks(self.embed(inputs), self.full_mask(inputs, mask)))

    def classify(self, states: States, inputs: Inputs) -> Float[Tensor, "batch class"]:
        """The classifier's output for the states that `encode` returned for `inputs`."""
        return self.classifier(self.pool(states, inputs))

    def pool(self, states: States, inputs: Inputs) -> Float[Tensor, "batch d_model"]:
        """Pooled state of each input: the class token's state, or the mean or maximum over all positions except padding."""
        if self.config.pooling == "class":
            return states[:, 0]
        is_real = real_positions(inputs, self.config.padding_id)
        is_real = states.new_ones(states.shape[:2], dtype=torch.bool) if is_real is None else is_real
        is_real = is_real[:, :, None]
        if self.config.pooling == "max":
            pooled = states.masked_fill(~is_real, -torch.inf).amax(dim=1)
        else:
            pooled = states.masked_fill(~is_real, 0.0).sum(dim=1) / is_real.sum(dim=1)
        return pooled.where(is_real.any(dim=1), 0.0)  # padding alone is pooled to zeros

    def embed(self, inputs: Inputs) -> States:
        """States that enter the first block. Raises ValueError as `forward` does."""
        config = self.config
        if config.is_text:
            if inputs.shape[-1] > config.n_positions:
                raise ValueError(f"{inputs.shape[-1]} tokens exceed the {config.n_positions} positions")
        elif inputs.shape[1:] != config.image_shape:
            raise ValueError(f"images must be of {config.image_shape}, got {tuple(inputs.shape[1:])}")
        return self.embedding(inputs)

    def run_blocks(self, x: States, mask: FullMask | None, first: int = 0, end: int | None = None) -> States:
        """States after the blocks `first` to `end` - 1 (None: to the last), from the input `x` of block `first`."""
        for layer in range(self.config.n_layers)[first:end]:
            x = self.blocks[layer](x, None if mask is None else mask[:, layer])
        return x

    def full_mask(self, inputs: Inputs, mask: Mask | None = None) -> FullMask | None:
        """The `mask` combined with the padding of `inputs`; None if every query may attend to every key.

        Raises ValueError for a mask of the wrong shape.
        """
        config = self.config
        n = inputs.shape[1] if config.is_text else config.n_positions
        shape = (len(inputs), config.n_layers, config.n_heads, n, n)
        mask = None if mask is None else mask.to(inputs.device)
        return combine_with_padding(mask, real_positions(inputs, config.padding_id), shape)

    def predict_tokens(self, states: Float[Tensor, "masked d_model"]) -> Float[Tensor, "masked vocab"]:
        """Logits over the vocabulary for masked positions. Raises ValueError if the encoder has no masked-token output."""
        if self.masked_token_output is None:
            raise ValueError("this encoder has no masked-token output")
        return self.masked_token_output(states, self.embedding.tokens.weight)
