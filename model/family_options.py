"""What encoders of other families have beside what `ModelConfig` says; the project's own checkpoints have none of it."""

from dataclasses import dataclass
from typing import Literal, get_args

from jsonschema import Draft202012Validator

from .files.json_schema import COUNT, NUMBER, WORDS, check, list_of

Act = Literal["relu", "gelu", "gelu_tanh", "tanh", "none"]
# How the numbers of a classifier are read: as one choice of several, as a yes or no each, or as plain numbers.
Answers = Literal["choice", "each", "numbers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixels:
    """What is done to a picture before it is cut into patches; means and standard deviations of pixels from 0 to 1."""

    means: tuple[float, ...] = (0.5, 0.5, 0.5)
    deviations: tuple[float, ...] = (0.5, 0.5, 0.5)
    resample: Literal["nearest", "bilinear", "bicubic", "lanczos"] = "bilinear"
    resized: tuple[int, int] | int | None = None  # (height, width), or the shorter side, before the crop
    cropped: bool = False  # to the encoder's size, from the middle

    def __post_init__(self) -> None:
        """Raises ValueError where a deviation is 0, since pixels are divided by it."""
        if not all(self.deviations) or len(self.deviations) != len(self.means):
            raise ValueError(f"pixels cannot be divided by {self.deviations}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One field for each thing in which a family of encoders goes beyond `model.transformer`.

    Token ids of the second part of a text are numbered `vocab_size` higher, where there are token types.
    """

    name: str  # as its authors call it: "BERT"
    n_token_types: int = 0  # vectors that are added by the part of the text; 0 or 1 tells nothing apart
    d_embedding: int | None = None  # width of the embedding where it is not d_model (ELECTRA, ALBERT)
    n_layer_groups: int | None = (
        None  # so many blocks have weights of their own, the others share them (ALBERT)
    )
    n_relative_buckets: int | None = None  # of a bias on the scores by distance (MPNet)
    distillation_token: bool = False  # behind the class token (DeiT)
    two_classifiers: bool = False  # of class token and distillation token; their logits' mean is the answer
    pooler: Act | None = None  # a linear map and this, behind pooling
    d_pooled: int | None = None  # what the pooler makes; None for d_model
    biases: bool = True  # of queries, keys and values
    answers: Answers = "choice"
    token_class_names: tuple[str, ...] = ()  # of an output for each token
    token_hidden: Act | None = None  # a linear map and this, before that output (ELECTRA's discriminator)
    token_answers: Answers = "choice"
    masked_token_act: Act = "gelu"
    tied_output: bool = True  # whether the masked-token output reads the token embedding backwards
    pixels: Pixels | None = None

    @classmethod
    def from_json(cls, values: dict) -> "Family":
        """Raises ValueError, in one sentence, where the values are not those of a family."""
        try:
            check(values, _SCHEMA)
        except ValueError as error:
            raise ValueError(f"the family does not fit: {error}") from error
        pixels = values.get("pixels")
        if pixels is not None:
            pixels = Pixels(**{key: tuple(it) if isinstance(it, list) else it for key, it in pixels.items()})
        names = tuple(values.get("token_class_names", ()))
        return cls(**{**values, "pixels": pixels, "token_class_names": names})


def _one_of(*options: object) -> dict:
    return {"enum": list(options)}


_SIZE = {"type": ["integer", "null"], "minimum": 0, "maximum": 2**18}
_SWITCH, _NUMBERS = {"type": "boolean"}, {"type": "array", "items": NUMBER, "minItems": 1, "maxItems": 3}
_ACT, _ANSWERS = _one_of(*get_args(Act)), _one_of(*get_args(Answers))
_PIXELS = {
    "type": ["object", "null"],
    "additionalProperties": False,
    "properties": {
        "means": _NUMBERS,
        "deviations": _NUMBERS,
        "resample": _one_of("nearest", "bilinear", "bicubic", "lanczos"),
        "resized": {"anyOf": [_SIZE, {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}]},
        "cropped": _SWITCH,
    },
}
_SCHEMA = Draft202012Validator(
    {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": WORDS,
            "n_token_types": COUNT,
            **dict.fromkeys(("d_embedding", "n_layer_groups", "n_relative_buckets", "d_pooled"), _SIZE),
            **dict.fromkeys(("distillation_token", "two_classifiers", "biases", "tied_output"), _SWITCH),
            **dict.fromkeys(("pooler", "token_hidden"), _one_of(*get_args(Act), None)),
            **dict.fromkeys(("answers", "token_answers"), _ANSWERS),
            "masked_token_act": _ACT,
            "token_class_names": list_of(WORDS),
            "pixels": _PIXELS,
        },
    }
)
