"""The answers without one token or patch, or without several: the knock-out with which attention is compared.

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
    """The kinds of knock-out of this encoder; a text encoder needs [MASK] or [UNK] in its vocabulary for theirs."""
    if loaded.tokenizer is None:
        return ("keys", "grey")
    return ("keys", *(kind for kind in ("mask", "unknown") if _token(loaded, kind) is not None))


def removable_positions(positions: Positions) -> tuple[int, ...]:
    """The positions that are knocked out: in a text all but class token and padding, in a picture the patches."""
    if positions.patch_grid is not None:
        return positions.at("patch")
    roles = enumerate(positions.roles)
    return tuple(position for position, role in roles if role not in ("class", "padding"))


def knocked_out(
    loaded: Loaded, given: InputLike, sets: Sequence[Sequence[int]], kind: KnockOutKind = "keys"
) -> tuple[Intervention, ...]:
    """An intervention for each of the `sets` of positions, which knocks all of the set out together.

    Raises ValueError where the encoder does not have that kind, or a position is not in the input; besides as
    `model.inputs.prepare` does.
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
    """The answers, as of `model.experiments.probabilities.probabilities`, without each of the `positions` alone.

    None: without each of the `removable_positions`. Raises as `knocked_out` does.

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


def _token(loaded: Loaded, kind: KnockOutKind) -> int | None:
    """The id of [MASK], or of [UNK]; None where the vocabulary has none."""
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
