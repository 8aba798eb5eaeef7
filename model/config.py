"""`ModelConfig`, from whose values an encoder is built, and the named presets."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from msgspec import Meta

from .family_options import Activation, Family
from .schema import check_fields

DIGITS = tuple("0123456789")
SENTIMENTS = ("negative", "positive")
LARGEST = 2**18  # for any size: an absurd value is refused before memory is taken for it
# attention weights of all heads for the longest input: ModernBERT-base at 512 tokens
MOST_PATTERNS = 22 * 12 * 512**2
# DINOv2-base with registers at 518 × 518 pixels: 1.1 GB, and scores as large
MOST_PATTERNS_OF_PICTURE = 12 * 12 * 1374**2
LARGEST_VOCABULARY = 2**20  # LaBSE has half a million tokens
Size = Annotated[int, Meta(ge=1, le=LARGEST)]
# of a square, or (height, width)
Sides = Size | Annotated[tuple[Size, ...], Meta(min_length=2, max_length=2)]
NormPlacement = Literal["pre", "post", "deepnorm", "b2t"]
Pooling = Literal["class", "mean", "max"]
NO_FAMILY = Family()
Probability = Annotated[float, Meta(ge=0, lt=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Sizes and variants of one encoder. Raises ValueError if the values contradict each other.

    Exactly one input kind is set: text (`vocab_size`) or image patches (`image_size`, `patch_size`, each the side of a square
    or height and width, in pixels).
    `n_positions` counts every position of the residual stream, the class token included.
    Without `class_names` there is no classifier, and the model returns the pooled state.
    """

    # sizes
    d_model: Size
    n_layers: Size
    n_heads: Size
    d_k: Size
    d_v: Size
    d_ff: Size
    n_positions: Size
    class_names: tuple[str, ...] = ()
    # input
    vocab_size: Annotated[int, Meta(ge=1, le=LARGEST_VOCABULARY)] | None = None
    padding_id: Annotated[int, Meta(ge=0)] | None = None
    image_size: Sides | None = None
    patch_size: Sides | None = None
    n_channels: Size = 1  # of a picture: 1 (grey), or 3 (red, green, blue)
    # how a picture of another size is brought to image_size
    resize: Literal["bilinear", "bicubic"] = "bilinear"
    # a pixel x, from 0 to 1, is read as (x - pixel_mean) / pixel_std
    pixel_mean: Probability = 0.0
    pixel_std: Annotated[float, Meta(gt=0, lt=2)] = 1.0
    # variants
    norm_placement: NormPlacement = "pre"
    residual: bool = True  # without, a sublayer's output takes the place of the stream
    final_norm: bool = True
    embedding_norm: bool = False
    embedding_scaled: bool = False
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"  # vectors added to the content
    pooling: Pooling = "class"
    activation: Activation = "gelu"
    layer_norm_eps: Annotated[float, Meta(gt=0, lt=1)] = 1e-5  # added to the variance
    shared_qkv: bool = False
    masked_token_output: bool = False
    # dropout probabilities, used in training only
    dropout_embedding: Probability = 0.0
    dropout_pattern: Probability = 0.0
    dropout_activation: Probability = 0.0
    dropout_sublayer: Probability = 0.0
    family: Family = NO_FAMILY  # what an encoder that was trained elsewhere has besides

    def __post_init__(self) -> None:
        check_fields(self)
        if (self.vocab_size is None) == (self.image_size is None):
            raise ValueError(
                "set either vocab_size (text) or image_size (patches), "
                f"got {self.vocab_size!r} and {self.image_size!r}"
            )
        self._check_input()
        if self.shared_qkv and self.d_k != self.d_v:
            raise ValueError(f"a shared q/k/v projection needs d_k == d_v, got {self.d_k} and {self.d_v}")
        if self.norm_placement in ("deepnorm", "b2t") and not self.residual:
            raise ValueError(
                f"{self.norm_placement!r} is a kind of residual connection, but residual is False"
            )
        if self.norm_placement == "deepnorm" and self.shared_qkv:
            raise ValueError("'deepnorm' starts v smaller than q and k, but shared_qkv makes them one")
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"sinusoidal positions need an even d_model, got {self.d_model}")

    def _check_input(self) -> None:
        """Raises ValueError if a text field is set for an image encoder or the reverse, or if the sizes do not fit each other."""
        defaults: dict[str, object] = (
            {"patch_size": None, "n_channels": 1}
            if self.is_text
            else {"padding_id": None, "masked_token_output": False}
        )
        for name, default in defaults.items():
            if (value := getattr(self, name)) != default:
                raise ValueError(f"{name} belongs to {'images' if self.is_text else 'text'}, got {value!r}")
        if self.vocab_size is not None:
            if self.padding_id is not None and self.padding_id >= self.vocab_size:
                raise ValueError(f"padding_id {self.padding_id} is none of the {self.vocab_size} tokens")
            return
        if self.n_channels not in (1, 3):
            raise ValueError(f"n_channels must be 1 or 3, got {self.n_channels}")
        if self.image_size is None or self.patch_size is None:
            raise ValueError(f"patch_size must be set for images, got {self.patch_size}")
        if any(side % patch for side, patch in zip(self.image_sides, self.patch_sides, strict=True)):
            raise ValueError(f"patch_size {self.patch_size} must divide image_size {self.image_size}")
        expected_positions = self.n_patches + self.n_before_patches
        if self.n_positions != expected_positions:
            raise ValueError(f"these patches need n_positions {expected_positions}, got {self.n_positions}")

    @property
    def is_text(self) -> bool:
        """Whether the encoder reads token ids; else it reads pictures."""
        return self.vocab_size is not None

    @property
    def is_imported(self) -> bool:
        """Whether the encoder belongs to a family other than this project's own (`model.huggingface`)."""
        return bool(self.family.name)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for an encoder without a classifier."""
        return len(self.class_names)

    @property
    def norm_name(self) -> str:
        """Name of the encoder's norms: LayerNorm, or RMSNorm, which does not subtract the mean."""
        return "RMSNorm" if self.family.parts.norm == "rms" else "LayerNorm"

    @property
    def image_sides(self) -> tuple[int, int]:
        """Height and width of the picture that is read, in pixels."""
        return two_sides(self.image_size)

    @property
    def patch_sides(self) -> tuple[int, int]:
        """Height and width of a patch, in pixels."""
        return two_sides(self.patch_size)

    @property
    def patch_grid(self) -> tuple[int, int] | None:
        """Numbers of rows and columns of patches; None for text."""
        if self.image_size is None or self.patch_size is None:
            return None
        (height, width), (patch_height, patch_width) = self.image_sides, self.patch_sides
        return height // patch_height, width // patch_width

    @property
    def n_patches(self) -> int:
        """Number of patches into which a picture is cut; 0 for text."""
        rows, columns = self.patch_grid or (0, 0)
        return rows * columns

    @property
    def chooses_class(self) -> bool:
        """Whether the encoder chooses one of several classes, with probabilities that sum to 1."""
        return self.n_classes > 0 and self.family.answers == "choice"

    @property
    def n_answers(self) -> int:
        """Number of values in an answer: `n_classes`, or `d_pooled` if the encoder does not choose a class."""
        return self.n_classes if self.chooses_class else self.d_pooled

    @property
    def d_embedding(self) -> int:
        """Width of the token embedding; if it is not `d_model`, a linear layer maps it to `d_model`."""
        return self.family.d_embedding or self.d_model

    @property
    def d_pooled(self) -> int:
        """Width of the pooled state: `d_model`, unless the family's pooler changes it."""
        return self.family.d_pooled or self.d_model

    @property
    def n_score_maps(self) -> int:
        """Number of maps that add up to the scores: 1, or up to 3 where attention is disentangled."""
        disentangled = self.family.parts.disentangled
        return 1 if disentangled is None else disentangled.n_maps

    @property
    def has_distance_bias(self) -> bool:
        """Whether a learned bias is added to each score, by the distance between query and key (MPNet, T5), or by the rows and
        columns between two patches (BEiT).
        """
        return bool(self.family.n_relative_buckets) or self.has_grid_bias

    @property
    def has_grid_bias(self) -> bool:
        """Whether a learned bias is added to each score, by the rows and columns between two patches (BEiT)."""
        return self.family.parts.grid_bias_by_layer or self.family.parts.grid_bias_shared

    @property
    def reads_class_token(self) -> bool:
        """Whether the answer depends directly on the class token's final state, alone or with others."""
        return self.pooling == "class" and not self.family.pools_patches_alone

    @property
    def n_before_patches(self) -> int:
        """Number of positions before the first patch: class token, distillation token and registers."""
        return (self.pooling == "class") + self.family.distillation_token + self.family.n_registers

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Shape of the tensor of one picture: [height, width], or [colour, height, width]."""
        return self.image_sides if self.n_channels == 1 else (self.n_channels, *self.image_sides)

    @property
    def n_patch_values(self) -> int:
        """Number of pixel values in one patch, over all colours."""
        height, width = self.patch_sides
        return self.n_channels * height * width

    @property
    def min_parameters(self) -> int:
        """Lower bound of the number of parameters: the large matrices alone, as if q, k and v shared one matrix."""
        layer_rows = self.n_heads * (self.d_k + self.d_v) + 2 * self.d_ff
        n_rows = self.n_layers * layer_rows + (self.vocab_size or self.n_patch_values)
        n_rows += self.n_positions if self.positions == "learned" else 0
        n_rows += self.d_model if self.masked_token_output else 0
        return self.d_model * (n_rows + self.n_classes)

    def resized(self, **sizes: int) -> "ModelConfig":
        """The same configuration with other `sizes`, given by field name; for pictures `n_positions` is computed from the
        patches.

        Raises ValueError if the sizes contradict each other.
        """
        if self.image_size is not None and self.patch_size is not None:
            (height, width), (patch_height, patch_width) = (
                two_sides(sizes.get(name, getattr(self, name))) for name in ("image_size", "patch_size")
            )
            # of sizes that do not fit, `replace` refuses the patch size, whatever positions it makes
            n_patches = (height // max(patch_height, 1)) * (width // max(patch_width, 1))
            sizes["n_positions"] = n_patches + self.n_before_patches
        return replace(self, **sizes)  # type: ignore[arg-type]  # any of the fields that are numbers

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values, which `model.schema.convert_closed` reads back.

        For an encoder of this project the field `family` is left out.
        """
        values = {**asdict(self), "class_names": list(self.class_names)}
        if not self.is_imported:
            del values["family"]
        return values


def two_sides(size: int | tuple[int, ...] | None) -> tuple[int, int]:
    """(height, width) of a size that is either these two or the side of a square."""
    assert size is not None, "an encoder of texts"
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def one_size(sides: tuple[int, int]) -> int | tuple[int, int]:
    """The side if both are equal, or else (height, width): the form in which a configuration stores a size."""
    return sides[0] if sides[0] == sides[1] else sides


_DIGIT = ModelConfig(
    d_model=64,
    n_layers=6,
    n_heads=4,
    d_k=16,
    d_v=16,
    d_ff=256,
    n_positions=50,
    class_names=DIGITS,
    image_size=28,
    patch_size=4,
    positions="learned",
)
_REVIEW = ModelConfig(
    d_model=128,
    n_layers=4,
    n_heads=4,
    d_k=32,
    d_v=32,
    d_ff=512,
    n_positions=384,
    class_names=SENTIMENTS,
    vocab_size=12_010,
    padding_id=0,
    embedding_scaled=True,
    masked_token_output=True,
    dropout_embedding=0.1,
    dropout_sublayer=0.1,
)
# small enough for several seeds
_SENTENCE = replace(_REVIEW, d_model=64, d_k=16, d_v=16, d_ff=256, n_positions=256, vocab_size=6000)
_VASWANI = ModelConfig(
    d_model=512,
    n_layers=6,
    n_heads=8,
    d_k=64,
    d_v=64,
    d_ff=2048,
    n_positions=512,
    vocab_size=37_000,
    norm_placement="post",
    final_norm=False,
    embedding_scaled=True,
    activation="relu",
    dropout_embedding=0.1,
    dropout_sublayer=0.1,
)
_PRESETS = {
    "mnist-pre-ln": _DIGIT,
    "mnist-post-ln": replace(_DIGIT, norm_placement="post", final_norm=False),
    "imdb-pre-ln": _REVIEW,
    "imdb-post-ln": replace(_REVIEW, norm_placement="post", final_norm=False),
    "sentences-pre-ln": _SENTENCE,
    "sentences-post-ln": replace(_SENTENCE, norm_placement="post", final_norm=False),
    # "Some Code Is All You Need": the digit enlarged to 56×56
    "looker": ModelConfig(
        d_model=128,
        n_layers=6,
        n_heads=1,
        d_k=128,
        d_v=128,
        d_ff=128,
        n_positions=17,
        class_names=DIGITS,
        image_size=56,
        patch_size=14,
        resize="bicubic",
        pixel_mean=0.1307,
        pixel_std=0.3081,
        norm_placement="post",
        positions="learned",
        activation="relu",
        dropout_pattern=0.1,
        dropout_activation=0.1,
    ),
    # "Understand Transformer Paper Through Implementation"
    "imdb-article": ModelConfig(
        d_model=16,
        n_layers=1,
        n_heads=2,
        d_k=16,
        d_v=16,
        d_ff=128,
        n_positions=200,
        class_names=SENTIMENTS,
        vocab_size=50_002,
        padding_id=0,
        norm_placement="post",
        final_norm=False,
        embedding_norm=True,
        pooling="max",
        activation="relu",
        shared_qkv=True,
        dropout_sublayer=0.1,
    ),
    # "Attention Is All You Need", table 3, the encoder half; 37,000 shared byte pairs
    "base": _VASWANI,
    "big": replace(
        _VASWANI, d_model=1024, n_heads=16, d_ff=4096, dropout_embedding=0.3, dropout_sublayer=0.3
    ),
}


def presets() -> tuple[str, ...]:
    """Names of all presets, as `preset` takes them."""
    return tuple(_PRESETS)


def preset(name: str) -> ModelConfig:
    """The configuration of the preset called `name`. Raises KeyError, with the valid names, if there is none."""
    if name not in _PRESETS:
        raise KeyError(f"no preset {name!r}; there are {', '.join(_PRESETS)}")
    return _PRESETS[name]
