"""Knock-out: the answers without one or several tokens or patches, with which attention is compared.

There are several kinds of knock-out, and they disagree: an effect is always shown with its kind.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float, Float32

from ..capture.intervention import Intervention, without_keys
from ..capture.replacements import Greyed, OtherTokens, Replacement
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.changes import answer_drop, class_changes
from ..record import ForwardRecord, Positions
from .probabilities import probabilities

# "keys": no query attends to it, in all layers and heads, its own included; its state stays in the stream.
# "mask", "unknown": the encoder reads [MASK] or [UNK] there. "grey": each pixel of the patch is the picture's mean.
KnockOutKind = Literal["keys", "mask", "unknown", "grey"]


def kinds(loaded: Loaded) -> tuple[KnockOutKind, ...]:
    """The kinds of knock-out that the encoder supports; "mask" and "unknown" need [MASK] and [UNK] in its vocabulary."""
    if loaded.tokenizer is None:
        return ("keys", "grey")
    return ("keys", *(kind for kind in ("mask", "unknown") if _token(loaded, kind) is not None))


def removable_positions(positions: Positions) -> tuple[int, ...]:
    """Positions that can be knocked out: in a text all but class token and padding, in a picture the patches."""
    if positions.patch_grid is not None:
        return positions.at("patch")
    roles = enumerate(positions.roles)
    return tuple(position for position, role in roles if role not in ("class", "padding"))


def knocked_out(
    loaded: Loaded, given: InputLike, sets: Sequence[Sequence[int]], kind: KnockOutKind = "keys"
) -> tuple[Intervention, ...]:
    """One intervention for each of `sets`, which knocks out all positions of that set together.

    Raises as `model.inputs.prepare` does, and ValueError for a kind that the encoder does not support, or a position
    that cannot be knocked out.
    """
    inputs, positions = prepare(loaded, given)
    _check(loaded, positions, sets, kind)
    distinct = [tuple(sorted(set(some))) for some in sets]
    if kind == "keys":
        return tuple(without_keys(*some) if some else Intervention() for some in distinct)
    replacements: list[Replacement]
    if kind == "grey":
        mean = tuple(inputs[0].flatten(-2).mean(dim=-1).reshape(-1).tolist())
        replacements = [Greyed(some, mean) for some in distinct]
    else:
        token, vocab_size = _token(loaded, kind), loaded.config.vocab_size
        assert token is not None
        assert vocab_size is not None
        # of the second text of a pair, ids are numbered vocab_size higher
        offsets = (inputs[0] // vocab_size * vocab_size).tolist()
        replacements = [
            OtherTokens(some, tuple(token + offsets[position] for position in some)) for some in distinct
        ]
    return tuple(
        Intervention(replacements=(("embedding.content", replacement),)) if some else Intervention()
        for some, replacement in zip(distinct, replacements, strict=True)
    )


def knock_out(
    loaded: Loaded,
    given: InputLike,
    kind: KnockOutKind = "keys",
    positions: Sequence[int] | None = None,
) -> Float32[np.ndarray, "position answer"]:
    """Answers (as `model.experiments.probabilities.probabilities` returns them) with each of `positions` knocked out alone.

    `positions` are by default the `removable_positions`. Raises as `knocked_out` does.

    >>> from loupe import knock_out, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> knock_out(encoder, "A gripping film.", positions=[2, 3]).shape
    (2, 2)
    """
    if positions is None:
        positions = removable_positions(prepare(loaded, given)[1])
    interventions = knocked_out(loaded, given, [(position,) for position in positions], kind)
    return probabilities(loaded, [given], interventions)[0]


def changes(
    before: ForwardRecord, answers: Float[np.ndarray, "*intervention answer"]
) -> Float[np.ndarray, " *intervention"]:
    """Change of the log-odds of the predicted class from `before` to `answers`, in nats; positive where they rose.

    For an encoder that does not choose a class, the cosine distance of the pooled states, from 0 to 2.
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
    """Drop of the log-odds of the predicted class from `before` to `answers`, in nats; negative where they rose.

    For an encoder that does not choose a class, the cosine distance of the pooled states, from 0 to 2.
    """
    whole = before.probabilities if before.has_classes else before.pooled
    return answer_drop(whole, answers, before.predicted_class)


def _token(loaded: Loaded, kind: KnockOutKind) -> int | None:
    """Id of [UNK] for the kind "unknown", else of [MASK]; None where the vocabulary lacks the token."""
    tokenizer, vocab_size = loaded.tokenizer, loaded.config.vocab_size
    if tokenizer is None or vocab_size is None:
        return None
    if kind == "unknown":
        number = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    else:  # by its name, as `model.inputs.text` tells that token
        added = tokenizer.get_added_tokens_decoder().items()
        masks = (id_ for id_, token in sorted(added) if token.special and "mask" in token.content.lower())
        number = next(masks, None)
    return number if number is not None and number < vocab_size else None


def _check(loaded: Loaded, positions: Positions, sets: Sequence[Sequence[int]], kind: KnockOutKind) -> None:
    if kind not in (own_kinds := kinds(loaded)):
        raise ValueError(f"{loaded.name} can be asked with {' and '.join(own_kinds)}, not with {kind!r}")
    allowed = range(len(positions)) if kind != "grey" else positions.at("patch")
    if wrong := sorted({position for some in sets for position in some} - set(allowed)):
        raise ValueError(f"positions {wrong} cannot be taken away by {kind!r}")
