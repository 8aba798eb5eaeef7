"""`Family`: options that only encoders of other families (BERT, ViT, …) need, in addition to those of `ModelConfig`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from .schema import Count, Number

# gelu_tanh and quick_gelu: approximations of GELU by tanh, and by the logistic function
Activation = Literal["relu", "gelu", "gelu_tanh", "silu", "quick_gelu"]
# of outputs, which also use tanh or no activation function
OutputActivation = Literal["relu", "gelu", "gelu_tanh", "silu", "quick_gelu", "tanh", "none"]
# How a classifier's numbers are read: as one choice of several, as a yes or no for each class, or as plain numbers.
AnswerKind = Literal["choice", "each", "numbers"]
Size = Annotated[int, Meta(ge=0, le=2**18)]
# one number for each colour of a picture
ColourValues = Annotated[tuple[Number, ...], Meta(min_length=1, max_length=3)]
RotaryBase = Annotated[float, Meta(gt=0, le=1e12)]
LinearMap = Literal["w_q", "w_k", "w_v", "w_o", "expand", "gate", "contract"]
HeightWidth = Annotated[tuple[Size, ...], Meta(min_length=2, max_length=2)]
Resample = Literal["nearest", "lanczos", "bilinear", "bicubic"]
# Which token of a text: the first one of this id, that of the highest id, or the last one.
TokenChoice = Count | Literal["highest id", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixels:
    """How a picture is resized, cropped and normalised before it is cut into patches; pixel values are from 0 to 1."""

    means: ColourValues = (0.5, 0.5, 0.5)
    deviations: ColourValues = (0.5, 0.5, 0.5)
    resample: Resample = "bilinear"
    resized: HeightWidth | Size | None = None  # (height, width), or the shorter side, before the crop
    cropped: bool = False  # to the encoder's size, from the middle
    # pixels of height and width that make no whole patch: those at the right and the bottom, which are not read
    remainder: Size | HeightWidth = 0

    def __post_init__(self) -> None:
        """Raises ValueError if a deviation is 0, or if there are not as many means as deviations."""
        if not all(self.deviations) or len(self.deviations) != len(self.means):
            raise ValueError(f"pixels cannot be divided by {self.deviations}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotary:
    """How queries and keys are rotated by their position (`model.parts.rotary`)."""

    bases: Annotated[
        tuple[RotaryBase, ...], Meta(min_length=1, max_length=512)
    ]  # of the frequencies, one a layer
    share: Annotated[float, Meta(gt=0, le=1)] = 1.0  # of each head's width, from its first number on
    interleaved: bool = False  # whether neighbouring numbers make a pair, not those half a width apart
    # read from the weights, where they were rounded (ESM-2), not computed from the base
    stored_frequencies: bool = False
    # patches by their row and column, half of the pairs by each; class token and registers are not rotated (DINOv3)
    on_grid: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Disentangled:
    """How scores depend on vectors of relative positions (`model.parts.disentangled`)."""

    furthest: Size  # positions; with buckets, the distance at which the last one begins
    n_buckets: Size | None = None  # of distances to each side; None for one vector for each distance
    content_to_position: bool = True
    position_to_content: bool = True
    shared_maps: bool = False  # the vectors are projected by W_Q and W_K, not by maps of their own
    norm: bool = False  # of the vectors

    @property
    def n_maps(self) -> int:
        """Number of score maps that add up: that of the contents, and up to two between contents and positions."""
        return 1 + self.content_to_position + self.position_to_content

    @property
    def span(self) -> int:
        """Number of vectors of relative positions on each side of the query."""
        return self.n_buckets or self.furthest


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parts of a block that differ from those of `model.transformer` (`model.parts`); with the defaults none does."""

    norm: Literal["layer", "rms"] = "layer"
    norm_bias: bool = True
    first_norm: bool = True  # False: the attention of layer 0 reads the embedding as it is (ModernBERT)
    gated: bool = False  # the feed-forward multiplies two linear maps
    n_key_heads: Size | None = None  # heads of keys and values, if several heads of queries share them
    scaled: bool = True  # whether scores are divided by sqrt(d_k); T5's are not
    rotary: Rotary | None = None
    disentangled: Disentangled | None = None
    # a learned bias on the scores of patches, by how many rows and columns lie between them (BEiT)
    grid_bias_by_layer: bool = False  # each layer has one of its own
    grid_bias_shared: bool = False  # all layers have the same one, in addition to their own
    causal: bool = False  # each token attends to itself and to earlier ones alone (CLIP's encoder of texts)
    # one a layer: how many positions from the query a key may be; None for any; empty for any in all layers
    windows: Annotated[tuple[Size | None, ...], Meta(max_length=512)] = ()
    without_bias: Annotated[tuple[LinearMap, ...], Meta(max_length=7)] = ()  # linear maps of a block


NO_PARTS = Parts()
# How the states of a text's tokens become one vector in a folder of sentence-transformers: the class token's, the largest
# numbers, the mean, the sum divided by the root of their number, the mean weighted by 1, 2, 3, ..., or the last token's.
SentencePooling = Literal["class", "max", "mean", "sum by root", "weighted mean", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLayer:
    """A layer behind the pooling of a folder of sentence-transformers."""

    kind: Literal["linear", "layer norm", "unit length", "first numbers"]
    width: Size  # of the vector that it makes
    bias: bool = True  # of a linear layer
    act: OutputActivation = "none"  # behind a linear layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Options of encoders of other families, one field for each; with the defaults the encoder is one of `model.transformer`.

    If there are token types, the token ids of the second text of a pair are numbered `vocab_size` higher.
    """

    name: str = ""  # as its authors call it: "BERT"; "" for encoders of this project
    n_token_types: Count = 0  # vectors that are added by the part of the text; 0 or 1 tells nothing apart
    # tokens of this id are embedded as zeros, and the others scaled up by the share of them (ESM-2)
    zeroed_token_id: Count | None = None
    d_embedding: Size | None = None  # width of the embedding where it is not d_model (ELECTRA, ALBERT)
    widened_first: bool = False  # to d_model, before the embedding's norm and without a bias (DeBERTa)
    # so many blocks have weights of their own, the others share them (ALBERT)
    n_layer_groups: Size | None = None
    n_relative_buckets: Size | None = None  # of a bias on the scores by distance (MPNet, T5)
    furthest_bucket: Size = 128  # tokens: all distances from here on share the last bucket
    relative_bias_by_layer: bool = False  # whether each layer has a bias of its own (UMT5)
    distillation_token: bool = False  # behind the class token (DeiT)
    # learned tokens between class token and patches, without position vectors (DINOv2)
    n_registers: Count = 0
    pools_patches: bool = False  # the mean of the patches stands behind the class token's state (DINOv2)
    pools_patches_alone: bool = False  # the mean of the patches is pooled, not the class token's state (BEiT)
    pooled_norm: bool = False  # behind pooling (BEiT)
    pools_token: TokenChoice | None = None  # of a text, in the place of `pooling` (CLIP, SigLIP)
    # in the place of `pooling`, a learned query attends to all states (SigLIP)
    attention_pooling: bool = False
    padded: bool = False  # texts are padded to n_positions, and padding is read like other tokens (SigLIP)
    two_classifiers: bool = False  # of class token and distillation token; their logits' mean is the answer
    pooler: OutputActivation | None = None  # a linear map and this, behind pooling
    d_pooled: Size | None = None  # what the pooler or the last of `sentence_layers` makes; None for d_model
    # In the place of `pooling`, what all of these make, one behind the other; then these layers (sentence-transformers).
    sentence_poolings: Annotated[tuple[SentencePooling, ...], Meta(max_length=6)] = ()
    sentence_layers: Annotated[tuple[SentenceLayer, ...], Meta(max_length=64)] = ()
    answers: AnswerKind = "choice"
    token_class_names: tuple[str, ...] = ()  # classes of an output for each token
    token_hidden: OutputActivation | None = (
        None  # a linear map and this, before that output (ELECTRA's discriminator)
    )
    token_answers: AnswerKind = "choice"
    hidden_norm: bool = False  # behind the activations of `pooler` and `token_hidden` (ModernBERT)
    pools_last: bool = False  # the pooler reads each position, and what it makes is pooled (EuroBERT)
    masked_token_act: OutputActivation = "gelu"
    # whether the masked-token output has a linear map and a norm before its products
    masked_token_hidden: bool = True
    tied_output: bool = True  # whether the masked-token output reads the token embedding backwards
    pixels: Pixels | None = None
    parts: Parts = NO_PARTS  # of its blocks
