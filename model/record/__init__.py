"""Records, on which measures, pages and figures are based: the attention, or the whole forward pass, of one input."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32

from ..config import ModelConfig
from ..family_options import AnswerKind

Role = Literal[
    "word",  # a whole word, or the beginning of one
    "continuation",  # a piece that goes on with the word before it
    "patch",
    "class",  # stands first, for the whole input
    "register",  # learned, between the class token and the patches; says nothing of its own about the picture
    "separator",
    "padding",
    "unknown",  # in place of what the vocabulary does not have
    "mask",  # hides a token
    "special",  # any other token that the tokenizer calls special
]
# Of a token: 0, or 1 for the second text of a pair; its first character; the character behind its last.
Span = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """The token (or patch) at each position of one input, and its role."""

    # As they are shown, without marks of spaces: "[CLS]", "great", "##s", "naïve", "r2c5".
    tokens: tuple[str, ...]
    roles: tuple[Role, ...]  # one a position
    pieces: tuple[str, ...] = ()  # as the tokenizer spells them, such as "ĠnaÃ¯ve"; by default the tokens
    patch_grid: tuple[int, int] | None = None  # (rows, columns) of patches, None for text
    continuing_prefix: str = ""  # with which the tokenizer marks a continuation
    # in a view, which merges or leaves out positions: the first original position of each
    numbers: tuple[int, ...] | None = None
    merged: bool = False  # whether a view has merged the pieces of each word

    def __post_init__(self) -> None:
        if not self.pieces:
            object.__setattr__(self, "pieces", self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def unit(self) -> Literal["token", "patch"]:
        """What a position is: a patch of a picture, or else a token."""
        return "token" if self.patch_grid is None else "patch"

    @property
    def units(self) -> Literal["tokens", "words", "patches"]:
        """What the positions are, in the plural; "words" if pieces are merged."""
        if self.patch_grid is not None:
            return "patches"
        return "words" if self.merged else "tokens"

    @property
    def labels(self) -> tuple[str, ...]:
        """A unique label of each position; tokens, which can occur twice, are numbered ("3 film")."""
        if self.patch_grid is not None:
            return self.tokens
        numbers = [str(self.number(position)) for position in range(len(self))]
        return tuple(
            token if token == number else f"{number} {token}"  # a position without a name of its own
            for number, token in zip(numbers, self.tokens, strict=True)
        )

    def number(self, position: int) -> int:
        """Index in the whole input of a `position` in this view of it; for a merged word the index of its first piece."""
        return position if self.numbers is None else self.numbers[position]

    def position_of(self, number: int) -> int:
        """Position in this view of the index `number` in the whole input; if it is hidden, the position before it."""
        if self.numbers is None:
            return min(max(number, 0), len(self) - 1)
        return max((index for index, first in enumerate(self.numbers) if first <= number), default=0)

    def without_prefix(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """The `tokens`, or `pieces`, of these positions without the prefix of continuations."""
        return tuple(
            token.removeprefix(self.continuing_prefix) if role == "continuation" else token
            for token, role in zip(tokens, self.roles, strict=True)
        )

    @property
    def first_patch(self) -> int:
        """Position of the first patch, which comes after a class token and other special tokens; 0 for text."""
        return self.roles.index("patch") if "patch" in self.roles else 0

    @property
    def patches(self) -> slice:
        """The positions of the patches, which follow each other row by row; detection tokens can come after them."""
        return slice(self.first_patch, self.first_patch + self.roles.count("patch"))

    @property
    def begins_with_class_token(self) -> bool:
        """Whether the first position is a class token, even if the encoder's answer does not depend on its final state."""
        return self.roles[:1] == ("class",)

    def patch_at(self, position: int) -> int | None:
        """Index of the patch at `position`; None for the class token and other positions that are no patches."""
        return position - self.first_patch if self.roles[position] == "patch" else None

    def positions_with_role(self, *roles: Role) -> tuple[int, ...]:
        """Positions whose role is one of the given ones, in ascending order."""
        return tuple(position for position, role in enumerate(self.roles) if role in roles)

    def in_order(self, order: Sequence[int]) -> "Positions":
        """The positions reordered: index i has the token and the role of position `order[i]`."""
        tokens, pieces = (
            tuple(values[position] for position in order) for values in (self.tokens, self.pieces)
        )
        roles = tuple(self.roles[position] for position in order)
        return replace(self, tokens=tokens, pieces=pieces, roles=roles)


def _short_text(positions: Positions) -> str:
    """Number of positions and the first tokens, as text on one line."""
    text = " ".join(positions.tokens)
    shortened = text if len(text) <= 60 else f"{text[:59]}…"
    return f"{len(positions)} {positions.unit if len(positions) == 1 else positions.units} {shortened!r}"


def answers_of_logits(
    logits: Float32[np.ndarray, "*axes class"], kind: AnswerKind
) -> Float32[np.ndarray, "*axes class"]:
    """Probabilities from logits: softmax for the `kind` "choice", the logistic function for "each"; "numbers" stay unchanged."""
    if kind == "numbers":
        return logits
    if kind == "each":
        return np.exp(-np.logaddexp(0, -logits))
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    return weights / weights.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttentionRecord(Positions):
    """Attention patterns with the tokens and roles of their positions, which is all that figures of attention need.

    The positions are those of the queries; `keys` is set only if the keys are other positions, as in cross-attention.
    Arrays are read-only. `ForwardRecord` is a subclass.
    """

    pattern: Float32[np.ndarray, "layer head query key"]
    mask: Bool[np.ndarray, "layer head query key"]  # True = may attend
    keys: Positions | None = None

    def __post_init__(self) -> None:
        Positions.__post_init__(self)
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._summary().values())})"

    def _repr_html_(self) -> str:
        """HTML table for notebooks, with the summary and the shapes of the arrays."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = (f"{name} {list(v.shape)}" for name, v in values.items() if isinstance(v, np.ndarray))
        rows = {**self._summary(), "arrays": ", ".join(arrays)}
        cells = (f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
        return f"<table><caption>{type(self).__name__}</caption>{''.join(cells)}</table>"

    def _summary(self) -> dict[str, str]:
        """Description of the record, on one line for each heading, such as "input" and "heads"."""
        n_layers, n_heads, *_ = self.pattern.shape
        summary = {"input": _short_text(self)}
        if self.keys is not None:
            summary["keys"] = f"keys of {_short_text(self.keys)}"
        return summary | {
            "heads": f"{n_layers} layer{'s' * (n_layers > 1)} × {n_heads} head{'s' * (n_heads > 1)}"
        }

    @property
    def attended(self) -> Positions:
        """The positions of the keys: `keys`, or those of the queries if it is None."""
        return self.keys or self

    @property
    def has_classes(self) -> bool:
        return False

    @property
    def has_class_token(self) -> bool:
        """Whether the first position is a class token, which represents the whole input."""
        return self.begins_with_class_token


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ForwardRecord(AttentionRecord):
    """One forward pass of one example, as read-only float32 arrays without a batch axis.

    `residual` is the residual stream (in post-LN after the norm) at each stage: after the embedding, then after each
    attention (mid) and each feed-forward (post).
    """

    config: ModelConfig
    scores: Float32[np.ndarray, "layer head query key"]  # q kᵀ / sqrt(d_k), before the mask
    q: Float32[np.ndarray, "layer head query d_k"]
    k: Float32[np.ndarray, "layer head key d_k"]
    v: Float32[np.ndarray, "layer head key d_v"]
    z: Float32[np.ndarray, "layer head query d_v"]
    residual: Float32[np.ndarray, "stage query d_model"]
    logits_by_layer: Float32[np.ndarray, "stage class"]
    logits: Float32[np.ndarray, " class"]  # of no class where the encoder has no classifier
    pooled: Float32[np.ndarray, " d_pooled"]  # the state that the classifier reads, or would read
    # Of an output for each token, such as the names in a text; None where there is none.
    token_logits: Float32[np.ndarray, "query token_class"] | None = None

    def _summary(self) -> dict[str, str]:
        summary = super(
            ForwardRecord, self
        )._summary()  # slots make another class, which a bare `super` does not know
        if self.has_classes:
            best = int(self.probabilities.argmax())
            summary["prediction"] = f"{self.class_names[best]!r} {self.probabilities[best]:.1%}"
        return summary

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.config.class_names

    @property
    def has_classes(self) -> bool:
        """Whether the encoder chooses one of several classes."""
        return self.config.chooses_class

    @property
    def predicted_class(self) -> int | None:
        """Index of the class with the largest logit; None for an encoder that does not choose one of several classes."""
        return int(self.logits.argmax()) if self.has_classes else None

    @property
    def is_finite(self) -> bool:
        """Whether residual stream and logits are finite, since even finite weights can overflow."""
        return bool(np.isfinite(self.residual).all() and np.isfinite(self.logits).all())

    @property
    def has_class_token(self) -> bool:
        """Whether the encoder classifies the state of the first position."""
        return self.config.reads_class_token

    @property
    def probabilities(self) -> Float32[np.ndarray, " class"]:
        """Class probabilities; plain numbers if the encoder is a regression (`answers_of_logits`)."""
        return answers_of_logits(self.logits, self.config.family.answers)

    @property
    def token_class_names(self) -> tuple[str, ...]:
        return self.config.family.token_class_names

    @property
    def token_probabilities(self) -> Float32[np.ndarray, "query token_class"] | None:
        """Class probabilities of each token; None for an encoder that does not classify tokens."""
        if self.token_logits is None:
            return None
        return answers_of_logits(self.token_logits, self.config.family.token_answers)

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, the first axis of `residual` and `logits_by_layer`: embed, L0 mid, L0 post, ..."""
        layers = range(self.config.n_layers)
        return ("embed", *(f"L{layer} {point}" for layer in layers for point in ("mid", "post")))
