"""Knock-out: the answers of an encoder without one or several tokens or patches.

Kinds: "keys" masks the positions as keys, "mask" and "unknown" put [MASK] or [UNK] in place of a token, and "grey" makes a
patch a single colour. Their effects differ, so an effect is always shown with its kind.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float, Float32

from ..capture.intervention import Intervention, without_keys
from ..capture.replacements import Greyed, OtherTokens, Replacement
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..record import ForwardRecord, Positions
from .masked_word import AnswerRead, answer_falls
from .probabilities import probabilities

# "keys": no query attends to it, in all layers and heads, its own included; its state stays in the stream.
# "mask", "unknown": the encoder reads [MASK] or [UNK] there. "grey": each pixel of the patch is the picture's mean.
KnockOutKind = Literal["keys", "mask", "unknown", "grey"]


def knock_out_kinds(loaded: Loaded) -> tuple[KnockOutKind, ...]:
    """The kinds of knock-out that the encoder supports; "mask" and "unknown" need [MASK] and [UNK] in its vocabulary."""
    if loaded.tokenizer is None:
        return ("keys", "grey")
    return (
        "keys",
        *(kind for kind in ("mask", "unknown") if replacement_token_id(loaded, kind) is not None),
    )


def removable_positions(positions: Positions) -> tuple[int, ...]:
    """Positions that can be knocked out: in a text all except class token and padding, in a picture the patches."""
    if positions.patch_grid is not None:
        return positions.positions_with_role("patch")
    roles = enumerate(positions.roles)
    return tuple(position for position, role in roles if role not in ("class", "padding"))


def knock_out_interventions(
    loaded: Loaded, model_input: InputLike, sets: Sequence[Sequence[int]], kind: KnockOutKind = "keys"
) -> tuple[Intervention, ...]:
    """For each of `sets` of positions, an intervention that knocks out all positions of the set together, by this `kind`.

    Raises as `model.inputs.prepare` does, and ValueError for a kind that the encoder does not support, or a position that
    cannot be knocked out.
    """
    inputs, positions = prepare(loaded, model_input)
    _check_positions(loaded, positions, sets, kind)
    position_sets = [tuple(sorted(set(position_set))) for position_set in sets]
    if kind == "keys":
        return tuple(
            without_keys(*position_set) if position_set else Intervention() for position_set in position_sets
        )
    replacements: list[Replacement]
    if kind == "grey":
        mean_pixel = tuple(inputs[0].flatten(-2).mean(dim=-1).reshape(-1).tolist())
        replacements = [Greyed(position_set, mean_pixel) for position_set in position_sets]
    else:
        token_id, vocab_size = replacement_token_id(loaded, kind), loaded.config.vocab_size
        assert token_id is not None
        assert vocab_size is not None
        # of the second text of a pair, ids are numbered vocab_size higher
        offsets = (inputs[0] // vocab_size * vocab_size).tolist()
        replacements = [
            OtherTokens(position_set, tuple(token_id + offsets[position] for position in position_set))
            for position_set in position_sets
        ]
    return tuple(
        Intervention(replacements=(("embedding.content", replacement),)) if position_set else Intervention()
        for position_set, replacement in zip(position_sets, replacements, strict=True)
    )


def knock_out(
    loaded: Loaded,
    model_input: InputLike,
    kind: KnockOutKind = "keys",
    positions: Sequence[int] | None = None,
    answer: AnswerRead = None,
) -> Float32[np.ndarray, "position answer"]:
    """Answers, as `model.experiments.probabilities.probabilities` returns them, with one of `positions` knocked out at a time.

    `positions` are by default the `removable_positions`. Raises as `knock_out_interventions` and
    `model.experiments.masked_word.check_answer` do.

    >>> from loupe import knock_out, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> knock_out(encoder, "A gripping film.", positions=[2, 3]).shape
    (2, 2)
    """
    if positions is None:
        positions = removable_positions(prepare(loaded, model_input)[1])
    interventions = knock_out_interventions(
        loaded, model_input, [(position,) for position in positions], kind
    )
    return probabilities(loaded, [model_input], interventions, answer)[0]


def log_odds_falls(
    before: ForwardRecord, answers: Float[np.ndarray, "*intervention answer"]
) -> Float[np.ndarray, " *intervention"]:
    """Fall of the log-odds of the predicted class from `before` to `answers` (logits), in nats; negative if they rise.

    For an encoder that does not choose a class, `answers` are pooled states and the fall is the cosine distance, from 0 to 2.
    """
    unchanged = before.logits if before.has_classes else before.pooled
    return answer_falls(before.config, unchanged, answers)


def replacement_token_id(loaded: Loaded, kind: KnockOutKind) -> int | None:
    """Id of [UNK] for the kind "unknown", otherwise of [MASK]; None if the vocabulary does not have that token."""
    tokenizer, vocab_size = loaded.tokenizer, loaded.config.vocab_size
    if tokenizer is None or vocab_size is None:
        return None
    if kind == "unknown":
        token_id = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
        if token_id in tokenizer.encode("").ids:  # in CLIP it is the token that ends a text
            return None
    else:  # by its name, as `model.inputs.text` tells that token
        added_tokens = tokenizer.get_added_tokens_decoder().items()
        mask_ids = (
            id_ for id_, token in sorted(added_tokens) if token.special and "mask" in token.content.lower()
        )
        token_id = next(mask_ids, None)
    return token_id if token_id is not None and token_id < vocab_size else None


def _check_positions(
    loaded: Loaded, positions: Positions, sets: Sequence[Sequence[int]], kind: KnockOutKind
) -> None:
    if kind not in (supported_kinds := knock_out_kinds(loaded)):
        raise ValueError(
            f"{loaded.name} can be asked with {' and '.join(supported_kinds)}, not with {kind!r}"
        )
    allowed = range(len(positions)) if kind != "grey" else positions.positions_with_role("patch")
    if invalid_positions := sorted(
        {position for position_set in sets for position in position_set} - set(allowed)
    ):
        raise ValueError(f"positions {invalid_positions} cannot be taken away by {kind!r}")
