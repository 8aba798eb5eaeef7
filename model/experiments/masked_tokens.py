"""The tokens that a text encoder predicts in place of [MASK]."""

from typing import NamedTuple

import torch

from ..capture import activations
from ..inputs import InputLike, prepare
from ..loaded import Loaded


class Guess(NamedTuple):
    """A token of the vocabulary, and its probability in place of [MASK]: a softmax over the whole vocabulary."""

    token: str
    probability: float


def guesses(loaded: Loaded, text: InputLike, n: int = 5) -> dict[int, list[Guess]]:
    """The `n` most probable tokens for each [MASK] of the text, by position, the most probable first.

    Ids without a token are left out. The result is empty for a text without [MASK], or an encoder without masked-token
    output.

    >>> from loupe import guess_masked, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> (guesses,) = guess_masked(encoder, "The film is [MASK] bad.").values()
    >>> guesses[0].token
    'very'
    """
    positions = list(prepare(loaded, text)[1].positions_with_role("mask"))
    config, tokenizer = loaded.config, loaded.tokenizer
    if not positions or not config.masked_token_output or tokenizer is None or config.vocab_size is None:
        return {}
    model, n = loaded.model, min(n, config.vocab_size)
    (last_states,) = activations(loaded, [text], [f"blocks.{config.n_layers - 1}.resid_post"]).values()
    with torch.inference_mode():
        states = model.final_norm(last_states[0, positions])
        probabilities, ids = model.predict_tokens(states).softmax(dim=-1).topk(n)
    return {
        position: [
            Guess(token, probability)
            for token_id, probability in zip(ids[row].tolist(), probabilities[row].tolist(), strict=True)
            if (token := tokenizer.id_to_token(token_id)) is not None
        ]
        for row, position in enumerate(positions)
    }
