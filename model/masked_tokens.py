"""What a text encoder would write in place of [MASK]."""

from typing import NamedTuple

import torch

from model.capture import evaluating
from model.checkpoint import Loaded
from model.inputs import InputLike, prepare


class Guess(NamedTuple):
    token: str
    probability: float


def guesses(loaded: Loaded, text: InputLike, n: int = 5) -> dict[int, list[Guess]]:
    """By position of each [MASK] that the encoder reads: the `n` most probable tokens, the likeliest first.

    Softmax over the whole vocabulary, in which a place without a token is no guess. Empty where there is no
    [MASK], or no masked-token output.
    """
    inputs, positions = prepare(loaded, text)
    places = positions.at("mask")
    if not places or not loaded.config.masked_token_output:
        return {}
    model, n = loaded.model, min(n, loaded.config.vocab_size)
    with torch.inference_mode(), evaluating(model):
        probabilities, ids = (
            model.predict_tokens(model.encode(inputs)[0, list(places)]).softmax(dim=-1).topk(n)
        )
    return {
        place: [
            Guess(token, probability)
            for number, probability in zip(ids[row].tolist(), probabilities[row].tolist(), strict=True)
            if (token := loaded.tokenizer.id_to_token(number)) is not None
        ]
        for row, place in enumerate(places)
    }
