"""The tokens that a text encoder predicts in place of [MASK]."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..capture import activations
from ..inputs import InputLike, prepare
from ..inputs.text import vocabulary_texts
from ..loaded import Loaded


class Guess(NamedTuple):
    """A token of the vocabulary, its probability in place of [MASK] (a softmax over the whole vocabulary), and its id.

    A space that the token begins with is shown as "·".
    """

    token: str
    probability: float
    token_id: int


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
    model = loaded.model
    (last_states,) = activations(loaded, [text], [f"blocks.{config.n_layers - 1}.resid_post"]).values()
    with torch.inference_mode():
        states = model.final_norm(last_states[0, positions])
        probabilities = model.predict_tokens(states).softmax(dim=-1)
    return {position: most_probable(loaded, probabilities[row], n) for row, position in enumerate(positions)}


def most_probable(loaded: Loaded, probabilities: Float[Tensor, " token"], n: int) -> list[Guess]:
    """The `n` most probable tokens, the most probable first; ids without a token are left out."""
    if loaded.tokenizer is None:
        return []
    values, ids = (result.tolist() for result in probabilities.topk(min(n, len(probabilities))))
    tokens = vocabulary_texts(loaded.tokenizer, ids)
    return [
        Guess(token, probability, token_id)
        for token, probability, token_id in zip(tokens, values, ids, strict=True)
        if token is not None
    ]
