"""A word in place of [MASK] as the answer of an encoder: experiments then measure log P of it, in nats.

It takes the place of class probabilities or the pooled state, for any encoder with a masked-token output. A masked language
model pools nothing that it was trained to answer with, so what it predicts for [MASK] is the answer to look at.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from tokenizers import Tokenizer
from torch import Tensor

from ..config import ModelConfig
from ..inputs import InputLike, prepare
from ..inputs.text import vocabulary_texts
from ..loaded import Loaded
from ..record.pieces import SPACE
from ..transformer import Transformer
from .masked_tokens import guesses


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

    `word` is read as it would stand behind a space, or is a token as the vocabulary spells it or a guess shows it; None
    means the most probable token. `position` is that of a [MASK]; None means the first one. Raises ValueError if the
    encoder has no masked-token output, the position holds no [MASK], or the word is not one token of the vocabulary.

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
    """Raises ValueError if the `answer` cannot be read: the encoder has no masked-token output or no such token, or an input
    has no [MASK] at the position. Classes or the pooled state can always be read.
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
    """Length of the last axis of answers: 1 for a masked word, else `config.n_answers`."""
    return 1 if isinstance(answer, MaskedWord) else config.n_answers


def log_probability(
    model: Transformer, states: Float[Tensor, "input position d_model"], answer: MaskedWord
) -> Float[Tensor, "input 1"]:
    """log P of the masked word in nats, from the states behind the final norm (`Transformer.encode`)."""
    logits = model.predict_tokens(states[:, answer.position])
    return logits.log_softmax(dim=-1)[:, answer.token_id, None]


def log_probability_changes(
    before: float, answers: Float[np.ndarray, "*interventions 1"]
) -> Float[np.ndarray, " *interventions"]:
    """Change of log P of the masked word from `before` to each of `answers`, in nats; negative where it fell."""
    return np.asarray(np.asarray(answers[..., 0], np.float64) - before)


def _token_id(tokenizer: Tokenizer, word: str) -> int:
    """Id of a word of one token. Raises ValueError if it is several tokens, or not in the vocabulary."""
    # A lone surrogate cannot become UTF-8, and the tokenizer refuses it.
    word = word.strip().encode("utf-8", "replace").decode("utf-8")
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    # Behind a space first: byte-level and sentencepiece vocabularies write the beginning of a word in another way.
    without_mark = word[1:] if word.startswith(SPACE) else word
    ids_of_spellings = [_ids(tokenizer, text) for text in (f" {without_mark}", word)]
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


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids of a text without special tokens and without padding."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [
        token_id for token_id, is_token in zip(encoding.ids, encoding.attention_mask, strict=True) if is_token
    ]
