"""A word in place of [MASK] as the answer of an encoder: experiments then measure log P of that word, in nats.

This answer replaces class probabilities or the pooled state, for any encoder with a masked-token output. The pooled state of a
masked language model was not trained for any task, but its prediction at [MASK] was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float64
from tokenizers import Tokenizer
from torch import Tensor

from ..capture import activations
from ..config import ModelConfig
from ..inputs import InputLike, prepare
from ..inputs.text import vocabulary_texts
from ..loaded import Loaded
from ..measures.changes import cosine_distance, log_odds
from ..record.pieces import SPACE
from ..transformer import Transformer


@dataclass(frozen=True)
class MaskedWord:
    """The answer log P(token | text) in nats: the log-softmax over the whole vocabulary at one masked position."""

    position: int  # of a [MASK]
    token_id: int


LOGITS: Literal["logits"] = "logits"
# None stands for class probabilities, LOGITS for the logits that they are made from, which do not end where a probability is 0
# or 1 in single precision. For an encoder that chooses no class both stand for the pooled state.
AnswerRead = MaskedWord | Literal["logits"] | None


def masked_word(
    loaded: Loaded, text: InputLike, word: str | None = None, position: int | None = None
) -> MaskedWord:
    """The answer "log P of `word` at [MASK]", which experiments take as their `answer`.

    `word` is tokenised as after a space, or is a token as the vocabulary spells it or as `Guess.token` shows it; None means the
    most probable token. `position` is that of a [MASK]; None means the first one. Raises ValueError if the encoder has no
    masked-token output, the position holds no [MASK], or the word is not one token of the vocabulary.

    >>> from loupe import ablate_heads, load, masked_word
    >>> encoder, text = load("checkpoints/imdb-pre-ln"), "The film is [MASK] bad."
    >>> ablate_heads(encoder, [text], answer=masked_word(encoder, text, "not")).shape
    (1, 4, 4, 1)
    """
    masked = prepare(loaded, text)[1].positions_with_role("mask")
    if position is None:
        if not masked:
            raise ValueError("the text has no [MASK]")
        position = masked[0]
    check_answer(loaded, [text], MaskedWord(position, token_id=0))
    if word is None:
        most_probable = guesses(loaded, text)[position]
        if not most_probable:
            raise ValueError(f"none of the ids that {loaded.name} predicts first has a token")
        return MaskedWord(position, most_probable[0].token_id)
    assert loaded.tokenizer is not None  # or there would be no [MASK]
    return MaskedWord(position, _token_id(loaded.tokenizer, word))


def check_answer(loaded: Loaded, inputs: Sequence[InputLike], answer: AnswerRead) -> None:
    """Raises ValueError if `answer` is a masked word, and the encoder has no masked-token output or no token with its id, or one
    of `inputs` has no [MASK] at its position.
    """
    if answer is None or answer == LOGITS:
        return
    if not isinstance(answer, MaskedWord):
        raise ValueError(f"an answer is a MaskedWord, {LOGITS!r} or None, got {answer!r}")
    config = loaded.config
    if not config.masked_token_output or config.vocab_size is None:
        raise ValueError(f"{loaded.name} has no masked-token output")
    if not 0 <= answer.token_id < config.vocab_size:
        raise ValueError(f"{loaded.name} has the tokens 0 to {config.vocab_size - 1}, got {answer.token_id}")
    for model_input in inputs:
        masked = prepare(loaded, model_input)[1].positions_with_role("mask")
        if answer.position not in masked:
            positions = ", ".join(map(str, masked)) or "none"
            raise ValueError(f"position {answer.position} holds no [MASK]; positions that do: {positions}")


def n_answers(config: ModelConfig, answer: AnswerRead) -> int:
    """Number of values in an answer: 1 for a masked word, else `config.n_answers`."""
    return 1 if isinstance(answer, MaskedWord) else config.n_answers


def log_probability(
    model: Transformer, states: Float[Tensor, "input position d_model"], answer: MaskedWord
) -> Float[Tensor, "input 1"]:
    """log P of the masked word in nats, from the states after the final norm (`Transformer.encode`)."""
    logits = model.predict_tokens(states[:, answer.position])
    return logits.log_softmax(dim=-1)[:, answer.token_id, None]


def answer_changes(
    config: ModelConfig,
    clean: Float[np.ndarray, " answer"],
    answers: Float[np.ndarray, "*interventions answer"],
    answer: MaskedWord | None = None,
) -> Float64[np.ndarray, "*interventions"]:
    """Change from the `clean` answer, without an intervention, to each of `answers`.

    For logits the change of the log-odds of the class predicted in `clean`, in nats; for a masked word (`answer`) that of log P,
    in nats; for pooled states, of an encoder that chooses no class, their cosine distance.
    """
    if answer is not None:
        return np.asarray(np.asarray(answers[..., 0], np.float64) - float(clean[0]))
    if config.chooses_class:
        predicted = int(clean.argmax())
        return np.asarray(log_odds(answers, predicted) - log_odds(clean, predicted))
    return cosine_distance(np.asarray(clean, np.float64), np.asarray(answers, np.float64))


def answer_falls(
    config: ModelConfig,
    clean: Float[np.ndarray, " answer"],
    answers: Float[np.ndarray, "*interventions answer"],
    answer: MaskedWord | None = None,
) -> Float64[np.ndarray, "*interventions"]:
    """How far the answer falls from `clean` to each of `answers`: minus `answer_changes` in nats, or the cosine distance itself."""
    changes = answer_changes(config, clean, answers, answer)
    return -changes if config.chooses_class or answer is not None else changes


def _token_id(tokenizer: Tokenizer, word: str) -> int:
    """Id of a word of one token. Raises ValueError if it is several tokens, or not in the vocabulary."""
    # A lone surrogate cannot become UTF-8, and the tokenizer refuses it.
    word = word.strip().encode("utf-8", "replace").decode("utf-8")
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    # Behind a space first: byte-level and sentencepiece vocabularies write the beginning of a word in another way.
    without_mark = word[1:] if word.startswith(SPACE) else word
    ids_of_spellings = [_token_ids(tokenizer, text) for text in (f" {without_mark}", word)]
    for ids in ids_of_spellings:
        if len(ids) == 1 and ids[0] != unknown:
            return ids[0]
    if (token_id := tokenizer.token_to_id(word)) is not None:
        return token_id
    ids = ids_of_spellings[-1]
    if not ids:
        raise ValueError("the word is empty")
    if unknown in ids:
        raise ValueError(f"“{word}” is not in the vocabulary of this encoder")
    pieces = " ".join(map(str, vocabulary_texts(tokenizer, ids)))
    raise ValueError(f"“{word}” is {len(ids)} tokens, {pieces}: choose a word of one token")


def _token_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids of a text without special tokens and without padding."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [
        token_id for token_id, is_token in zip(encoding.ids, encoding.attention_mask, strict=True) if is_token
    ]


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


class StageGuesses(NamedTuple):
    """Prediction of the masked-token output from the state of [MASK] at one stage of the residual stream.

    `log_probability` (nats) and `rank` (1: most probable) are those of the masked word.
    """

    stage: str  # embed, L0 post, L1 post, …
    guesses: tuple[Guess, ...]  # the most probable first
    log_probability: float  # of the word, in nats
    rank: int  # of the word; 1 is the most probable


def masked_word_by_layer(
    loaded: Loaded, text: InputLike, answer: MaskedWord, n: int = 3
) -> tuple[StageGuesses, ...]:
    """The `n` most probable tokens, and log P and rank of the masked word `answer`, after the embedding and after each layer.

    This is the logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens") through the masked-token output: residual
    stream → final norm, where the encoder has one → masked-token output → softmax. The output was trained on the last layer
    alone, so an early state may hold information that this output does not read (Belrose et al. 2023, section 2). After the
    last layer the guesses are the encoder's prediction. Raises as `model.inputs.prepare` and
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
