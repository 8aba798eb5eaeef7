"""Logit lens of a masked word: what the encoder would predict in place of [MASK], if it stopped after each layer.

nostalgebraist 2020, "interpreting GPT: the logit lens", here through the masked-token output: residual stream → final norm,
where the encoder has one → masked-token output → softmax. The output was trained on the last layer alone, so that a guess
after an early layer says what this output makes of the state, not all that the state holds (Belrose et al. 2023, section 2).
"""

from typing import NamedTuple

import torch

from ..capture import activations
from ..inputs import InputLike
from ..loaded import Loaded
from .masked_tokens import Guess, most_probable
from .masked_word import MaskedWord, check_answer


class StageGuesses(NamedTuple):
    """What the masked-token output makes of the state of [MASK] at one stage of the residual stream."""

    stage: str  # embed, L0 post, L1 post, …
    guesses: tuple[Guess, ...]  # the most probable first
    log_probability: float  # of the word, in nats
    rank: int  # of the word; 1 is the most probable


def masked_word_by_layer(
    loaded: Loaded, text: InputLike, answer: MaskedWord, n: int = 3
) -> tuple[StageGuesses, ...]:
    """The `n` most probable tokens and log P of the masked word after the embedding and after each layer.

    After the last layer they are the encoder's prediction. Raises as `model.inputs.prepare` and
    `model.experiments.masked_word.check_answer` do.

    >>> from loupe import load, masked_word, masked_word_by_layer
    >>> encoder, text = load("checkpoints/imdb-pre-ln"), "The film is [MASK] bad."
    >>> stages = masked_word_by_layer(encoder, text, masked_word(encoder, text, "very"))
    >>> stages[-1].stage, stages[-1].rank
    ('L3 post', 1)
    """
    check_answer(loaded, [text], answer)
    layers, model = range(loaded.config.n_layers), loaded.model
    names = ["embedding.output", *(f"blocks.{layer}.resid_post" for layer in layers)]
    residual = torch.cat(list(activations(loaded, [text], names).values()))
    with torch.inference_mode():
        logits = model.predict_tokens(model.final_norm(residual[:, answer.position]))
        log_probabilities = logits.log_softmax(dim=-1)
    return tuple(
        StageGuesses(
            stage=stage,
            guesses=tuple(most_probable(loaded, row.exp(), n)),
            log_probability=float(row[answer.token_id]),
            rank=1 + int((row > row[answer.token_id]).sum()),
        )
        for stage, row in zip(
            ("embed", *(f"L{layer} post" for layer in layers)), log_probabilities, strict=True
        )
    )
