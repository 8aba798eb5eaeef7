"""What the answer becomes without one token or patch, or without several: the knock-out that attention is checked by.

There are several ways to take a position away, and they do not agree: whoever shows an effect says which it is.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float, Float32

from ..capture.intervention import Intervention, without_keys
from ..capture.replacements import Greyed, OtherTokens
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.changes import answer_drop, class_changes
from ..record import ForwardRecord, Positions
from .probabilities import probabilities

# "keys": no query attends to it, in all layers and heads, its own included; its state stays in the stream.
# "mask", "unknown": the encoder reads [MASK] or [UNK] there. "grey": each pixel of the patch is the picture's mean.
Kind = Literal["keys", "mask", "unknown", "grey"]


def kinds(loaded: Loaded) -> tuple[Kind, ...]:
    """Those that this encoder can be asked with: a text encoder only with the tokens that its vocabulary has."""
    if not loaded.config.is_text:
        return ("keys", "grey")
    return ("keys", *(kind for kind in ("mask", "unknown") if _token(loaded, kind) is not None))


def compared(positions: Positions) -> tuple[int, ...]:
    """The positions that can be taken away: of a text all but class token and padding, of a picture its patches."""
    if positions.patch_grid is not None:
        return positions.at("patch")
    return tuple(at for at, role in enumerate(positions.roles) if role not in ("class", "padding"))


def knocked_out(
    loaded: Loaded, given: InputLike, sets: Sequence[Sequence[int]], kind: Kind = "keys"
) -> tuple[Intervention, ...]:
    """For each of the `sets` of positions what takes all of them away together; nothing for an empty one.

    Raises ValueError where the encoder does not have that kind, or a position is not in the input; besides as
    `model.inputs.prepare` does.
    """
    inputs, positions = prepare(loaded, given)
    _check(loaded, positions, sets, kind)
    each = [tuple(sorted(set(some))) for some in sets]
    if kind == "keys":
        return tuple(without_keys(*some) if some else Intervention() for some in each)
    if kind == "grey":
        mean = tuple(inputs[0].flatten(-2).mean(dim=-1).reshape(-1).tolist())
        made = [Greyed(some, mean) for some in each]
    else:
        token, vocabulary = _token(loaded, kind), loaded.config.vocab_size
        parts = (inputs[0] // vocabulary * vocabulary).tolist()  # which part of a pair of texts a token is of
        made = [OtherTokens(some, tuple(token + parts[at] for at in some)) for some in each]
    return tuple(
        Intervention(replacements=(("embedding.content", change),)) if some else Intervention()
        for some, change in zip(each, made, strict=True)
    )


def knock_out(
    loaded: Loaded,
    given: InputLike,
    kind: Kind = "keys",
    positions: Sequence[int] | None = None,
) -> Float32[np.ndarray, "position answer"]:
    """The answers without each of the `positions` alone, as `model.experiments.probabilities.probabilities` gives them.

    `positions` None stands for those that are `compared`. Raises as `knocked_out` does.
    """
    if positions is None:
        positions = compared(prepare(loaded, given)[1])
    changes = knocked_out(loaded, given, [(position,) for position in positions], kind)
    return probabilities(loaded, [given], changes)[0]


def changes(
    before: ForwardRecord, answers: Float[np.ndarray, "*intervention answer"]
) -> Float[np.ndarray, " *intervention"]:
    """How far the log-odds of the predicted class have risen since `before`, in nats.

    Of an encoder that does not choose a class, the cosine distance of the pooled states, from 0 to 2.
    """
    flat = answers.reshape(-1, answers.shape[-1])
    return class_changes(before, flat, before.predicted_class).reshape(answers.shape[:-1])


def effects(
    before: ForwardRecord, answers: Float[np.ndarray, "*intervention answer"]
) -> Float[np.ndarray, " *intervention"]:
    """The absolute values of `changes`."""
    return np.abs(changes(before, answers))


def falls(
    before: ForwardRecord, answers: Float[np.ndarray, "*intervention answer"]
) -> Float[np.ndarray, " *intervention"]:
    """How far the log-odds of the predicted class have fallen since `before`, in nats; below 0 where they rose.

    Of an encoder that does not choose a class, the cosine distance of the pooled states, from 0 to 2.
    """
    whole = before.probabilities if before.has_classes else before.pooled
    return answer_drop(whole, answers, before.predicted_class)


def _token(loaded: Loaded, kind: Kind) -> int | None:
    """The token that hides another, or that stands for an unknown word; None where the vocabulary has none."""
    tokenizer = loaded.tokenizer
    if kind == "unknown":
        number = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    else:  # by its name, as `model.inputs.text` tells that token
        added = tokenizer.get_added_tokens_decoder().items()
        hiding = (at for at, token in sorted(added) if token.special and "mask" in token.content.lower())
        number = next(hiding, None)
    return number if number is not None and number < loaded.config.vocab_size else None


def _check(loaded: Loaded, positions: Positions, sets: Sequence[Sequence[int]], kind: Kind) -> None:
    if kind not in (there := kinds(loaded)):
        raise ValueError(f"{loaded.name} can be asked with {' and '.join(there)}, not with {kind!r}")
    allowed = range(len(positions)) if kind != "grey" else positions.at("patch")
    if wrong := sorted({at for some in sets for at in some} - set(allowed)):
        raise ValueError(f"positions {wrong} cannot be taken away by {kind!r}")
