"""What a text encoder would write in place of [MASK]."""

from typing import NamedTuple

import torch

from ..capture import activations
from ..inputs import InputLike, prepare
from ..loaded import Loaded


class Guess(NamedTuple):
    token: str
    probability: float


def guesses(loaded: Loaded, text: InputLike, n: int = 5) -> dict[int, list[Guess]]:
    """By position of each [MASK] that the encoder reads: the `n` most probable tokens, the likeliest first.

    Softmax over the whole vocabulary, in which a place without a token is no guess. Empty where there is no
    [MASK], or no masked-token output.
    """
    places = list(prepare(loaded, text)[1].at("mask"))
    if not places or not loaded.config.masked_token_output:
        return {}
    model, n = loaded.model, min(n, loaded.config.vocab_size)
    (last,) = activations(loaded, [text], [f"blocks.{loaded.config.n_layers - 1}.resid_post"]).values()
    with torch.inference_mode():
        states = model.final_norm(last[0, places])
        probabilities, ids = model.predict_tokens(states).softmax(dim=-1).topk(n)
    return {
        place: [
            Guess(token, probability)
            for number, probability in zip(ids[row].tolist(), probabilities[row].tolist(), strict=True)
            if (token := loaded.tokenizer.id_to_token(number)) is not None
        ]
        for row, place in enumerate(places)
    }
