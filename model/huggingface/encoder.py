"""Encoders of other families, built from the classes of `model.transformer` with the options of `ModelConfig.family`."""

import math
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from ..activations import OUTPUT_ACTIVATIONS
from ..config import ModelConfig
from ..family_options import TokenChoice
from ..hooks import HookPoint
from ..masks import FullMask, Mask, causal, local_windows, real_positions
from ..parts.block import add_grid_bias, norm_layer, replace_parts
from ..parts.disentangled import DisentangledAttention, RelativePositions
from ..parts.pooling import AttentionPooling, pool_tokens, sentence_layer
from ..parts.relative_bias import BiasedScores
from ..transformer import Embedding, Inputs, States, Transformer, fixed_positions


class ImportedEmbedding(Embedding):
    """An embedding that can have token types, a distillation token, registers, normalised pixels, or another width than d_model."""

    means: Tensor  # of pixels, by colour
    deviations: Tensor

    def __init__(self, config: ModelConfig) -> None:
        family = config.family
        width = config.d_embedding
        super().__init__(replace(config, d_model=width))
        self.vocab_size = config.vocab_size or 0
        self.padding_id, self.zeroed_id = config.padding_id, family.zeroed_token_id
        self.types = nn.Embedding(family.n_token_types, width) if family.n_token_types else None
        self.distillation_token = nn.Parameter(torch.zeros(width)) if family.distillation_token else None
        n_registers = family.n_registers
        self.registers = nn.Parameter(torch.zeros(n_registers, width)) if n_registers else None
        if config.embedding_norm:
            self.norm = norm_layer(config, width)  # type: ignore[assignment]  # called alike
        if family.widened_first:
            self.norm = nn.Sequential(nn.Linear(width, config.d_model, bias=False), norm_layer(config))  # type: ignore[assignment]  # called like one norm
        elif family.d_embedding is not None:
            self.norm = nn.Sequential(self.norm, nn.Linear(width, config.d_model))  # type: ignore[assignment]  # called like one norm

    def look_up(self, inputs: Inputs) -> States:
        """The vectors of token ids or patches before positions are added.

        In a pair of texts, `vocab_size` was added to the ids of the second one (`model.inputs.prepare`).
        """
        if self.patch_size is None:
            if self.types is not None:
                return super().look_up(inputs % self.vocab_size) + self.types(inputs // self.vocab_size)
            content = super().look_up(inputs)
            return content if self.zeroed_id is None else self._zero_masked_tokens(content, inputs)
        content = super().look_up((inputs - self.means) / self.deviations)
        for tokens in (self.distillation_token, self.registers):
            if tokens is not None:
                inserted = tokens.expand(len(content), tokens.numel() // tokens.shape[-1], -1)
                content = torch.cat((content[:, :1], inserted, content[:, 1:]), dim=1)
        return content

    def _zero_masked_tokens(self, content: States, inputs: Inputs) -> States:
        """The vectors with zeros for masked tokens, and the others scaled as ESM-2 does it (`token_dropout`).

        The factor is (1 - 0.15 * 0.8) / (share of tokens not masked): in ESM-2's training 15 % of the tokens were chosen, and
        80 % of these masked.
        """
        assert self.zeroed_id is not None
        is_masked = inputs.eq(self.zeroed_id)
        is_real = real_positions(inputs, self.padding_id)
        n_tokens = inputs.shape[1] if is_real is None else is_real.sum(dim=1)
        seen_share = 1 - is_masked.sum(dim=1) / n_tokens
        scale = (1 - 0.15 * 0.8) / seen_share
        return content.masked_fill(is_masked[:, :, None], 0.0) * scale[:, None, None]


class TokenOutput(nn.Module):
    """Output layer that predicts masked tokens: logits over the vocabulary.

    Unlike in `model.transformer.MaskedTokenOutput`, its hidden layer is as wide as the token embedding.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        family = config.family
        width = config.d_embedding
        assert config.vocab_size is not None  # an encoder of texts
        has_hidden = family.masked_token_hidden
        self.transform = nn.Linear(config.d_model, width) if has_hidden else nn.Identity()
        self.activation = OUTPUT_ACTIVATIONS[family.masked_token_act if has_hidden else "none"]()
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps) if has_hidden else nn.Identity()
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder = None if family.tied_output else nn.Linear(width, config.vocab_size, bias=False)

    def forward(
        self, states: Float[Tensor, "masked d_model"], embedding: Float[Tensor, "vocab width"]
    ) -> Float[Tensor, "masked vocab"]:
        states = self.norm(self.activation(self.transform(states)))
        token_vectors = embedding if self.decoder is None else self.decoder.weight
        return functional.linear(states, token_vectors, self.bias)


class ImportedEncoder(Transformer):
    """An encoder of another family, built on torch's meta device; `model.huggingface.folder` loads the weights."""

    def __init__(self, config: ModelConfig) -> None:
        family = config.family
        with torch.device("meta"):
            super().__init__(replace(config, masked_token_output=False))
            self.config = config
            self.embedding = ImportedEmbedding(config)
            self.masked_token_output = TokenOutput(config) if config.masked_token_output else None  # type: ignore[assignment]  # called alike
            d_model, d_pooled = config.d_model, config.d_pooled
            self.attention_pooling = AttentionPooling(config) if family.attention_pooling else None
            self.pooler = nn.Linear(d_model, d_pooled) if family.pooler else nn.Identity()
            self.pooler_act = OUTPUT_ACTIVATIONS[family.pooler or "none"]()
            has_pooled_norm = family.pooled_norm or (family.hidden_norm and family.pooler is not None)
            self.pooler_norm = _norm_or_identity(config, d_pooled, has_pooled_norm)
            width, layers = d_model * max(1, len(family.sentence_poolings)), list[nn.Module]()
            for layer_options in family.sentence_layers:
                layers.append(sentence_layer(layer_options, width))
                width = layer_options.width
            self.sentence_layers = nn.Sequential(*layers)
            if config.n_classes:
                self.classifier = nn.Linear(d_pooled, config.n_classes)
            self.second_classifier = nn.Linear(d_pooled, config.n_classes) if family.two_classifiers else None
            self.token_hidden = nn.Linear(d_model, d_model) if family.token_hidden else nn.Identity()
            self.token_act = OUTPUT_ACTIVATIONS[family.token_hidden or "none"]()
            self.token_norm = _norm_or_identity(
                config, d_model, family.hidden_norm and family.token_hidden is not None
            )
            n_token_classes = len(family.token_class_names)
            self.token_classifier = nn.Linear(d_model, n_token_classes) if n_token_classes else None
            if n_token_classes:
                self.token_logits = HookPoint()
            if (options := family.parts.disentangled) is not None:
                self.relative_positions = RelativePositions(config, options)
                for block in self.blocks:
                    block.attention = DisentangledAttention(config, options, self.relative_positions)
            for layer, block in enumerate(self.blocks):
                replace_parts(block, config, layer)
            self.shared_grid_bias = add_grid_bias(self.blocks, config) if config.has_grid_bias else None
            if config.final_norm:
                self.final_norm = norm_layer(config)  # type: ignore[assignment]  # called alike
            if family.n_relative_buckets:
                self._add_relative_bias(family.n_relative_buckets)
        if family.n_layer_groups:
            self._share_layers(family.n_layer_groups)
        _make_buffers(self.embedding, config)

    def forward(self, inputs: Inputs, mask: Mask | None = None) -> Float[Tensor, "batch class"]:
        states = self.encode(inputs, mask)
        if self.token_classifier is not None:
            hidden = self.token_norm(self.token_act(self.token_hidden(states)))
            self.token_logits(self.token_classifier(hidden))
        return self.logits(self.classify(states, inputs))

    def pool(self, states: States, inputs: Inputs) -> Float[Tensor, "batch d_pooled"]:
        if self.config.family.pools_last:
            return super().pool(self.pooled_layers(states), inputs)
        return self.pooled_layers(self.pool_positions(states, inputs))

    @property
    def pooled_layers(self) -> nn.Sequential:
        """The pooler and the layers of sentence-transformers; they come after pooling, with `family.pools_last` before it."""
        return nn.Sequential(self.pooler, self.pooler_act, self.pooler_norm, *self.sentence_layers)

    def pool_positions(self, states: States, inputs: Inputs) -> Float[Tensor, "batch pooled"]:
        """One vector per input from the states of its positions, before `pooled_layers`; d_model wide or a multiple of it."""
        family = self.config.family
        if family.pools_patches or family.pools_patches_alone:
            mean = states[:, self.config.n_before_patches :].mean(dim=1)
            return mean if family.pools_patches_alone else torch.cat((states[:, 0], mean), dim=-1)
        if self.attention_pooling is not None:
            return self.attention_pooling(states)
        if family.pools_token is not None:
            position = token_to_pool(inputs, family.pools_token)[:, None, None]
            return states.take_along_dim(position, dim=1)[:, 0]
        if family.sentence_poolings:
            is_real = real_positions(inputs, self.config.padding_id)
            return pool_tokens(family.sentence_poolings, states, is_real)
        return super().pool(states, inputs)

    def classify(self, states: States, inputs: Inputs) -> Float[Tensor, "batch class"]:
        logits = super().classify(states, inputs)
        if self.second_classifier is None:
            return logits
        return (logits + self.second_classifier(states[:, 1])) / 2

    def full_mask(self, inputs: Inputs, mask: Mask | None = None) -> FullMask | None:
        """The mask of `Transformer.full_mask`, and with it the causal mask and the local windows of the encoder, if it has any."""
        full_mask = super().full_mask(inputs, mask)
        own_mask = own_full_mask(self.config, inputs.shape[1] if self.config.is_text else None, inputs.device)
        if own_mask is None:
            return full_mask
        return own_mask if full_mask is None else full_mask & own_mask

    def _add_relative_bias(self, n_buckets: int) -> None:
        """Gives each block a learned bias on its scores by distance, from a table [bucket, head] of its own or of all blocks."""
        family, n_heads = self.config.family, self.config.n_heads
        n_biases = len(self.blocks) if family.relative_bias_by_layer else 1
        biases = [nn.Embedding(n_buckets, n_heads) for _ in range(n_biases)]
        self.relative_bias = nn.ModuleList(biases) if family.relative_bias_by_layer else biases[0]
        for layer, block in enumerate(self.blocks):
            block.attention.scores = BiasedScores(biases[layer % n_biases], family.furthest_bucket)

    def _share_layers(self, n_groups: int) -> None:
        """Makes all blocks of a group use the same linear layers and norms; each block keeps its own hook points."""
        group_size = len(self.blocks) / n_groups
        for layer, block in enumerate(self.blocks):
            first_block = self.blocks[math.ceil(int(layer / group_size) * group_size)]
            _share_layers_of_block(block, first_block)


def own_full_mask(
    config: ModelConfig, n: int | None = None, device: torch.device | None = None
) -> FullMask | None:
    """Causal mask and local windows of the encoder, for a text of `n` tokens or a picture; True where a query may attend.

    None if the encoder has neither.
    """
    parts, n = config.family.parts, n or config.n_positions
    own_mask = causal(n, device).expand(1, config.n_layers, 1, n, n) if parts.causal else None
    if parts.windows:
        radii = [n if window is None else window for window in parts.windows]
        window_mask = local_windows(n, radii, device)[None, :, None]
        own_mask = window_mask if own_mask is None else own_mask & window_mask
    return own_mask


def token_to_pool(inputs: Int[Tensor, "batch position"], choice: TokenChoice) -> Int[Tensor, " batch"]:
    """Position in each text of the token from which a text's vector is taken.

    By `choice` it is the first token with this id (0 if there is none), that with the highest id, or the last one.
    """
    if choice == "last":
        return torch.full((len(inputs),), inputs.shape[1] - 1, device=inputs.device)
    return (inputs if choice == "highest id" else (inputs == choice).int()).argmax(dim=1)


def _norm_or_identity(config: ModelConfig, width: int, has_norm: bool) -> nn.Module:
    """A layer norm, or a layer that changes nothing unless `has_norm`."""
    return nn.LayerNorm(width, eps=config.layer_norm_eps) if has_norm else nn.Identity()


def _share_layers_of_block(block: nn.Module, first_block: nn.Module) -> None:
    """Replaces the linear layers and norms of `block`, at any depth, by those of `first_block`."""
    for name, module in first_block.named_children():
        if isinstance(module, nn.Linear | nn.LayerNorm | nn.RMSNorm):
            setattr(block, name, module)
        else:
            _share_layers_of_block(getattr(block, name), module)


def _make_buffers(embedding: ImportedEmbedding, config: ModelConfig) -> None:
    """Computes fixed positions and the pixels' means and deviations, which no weights file holds."""
    if config.positions != "learned":
        table = fixed_positions(replace(config, d_model=config.d_embedding))
        embedding.register_buffer("position_table", table, persistent=False)
    if (pixels := config.family.pixels) is not None:
        shape = (-1, 1, 1) if config.n_channels > 1 else (-1,)
        for name, values in (("means", pixels.means), ("deviations", pixels.deviations)):
            embedding.register_buffer(name, torch.tensor(values).view(shape), persistent=False)
