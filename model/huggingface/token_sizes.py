"""Where the numbers of a tokenizer and of its encoder disagree: the rows of the embedding, and the token of padding."""

from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer

from ..config import ModelConfig
from .tensor_map import Reading
from .tokenizer_settings import read_settings


def with_tokens(reading: Reading, tokenizer: Tokenizer, folder: Path) -> Reading:
    """Copy of `reading` with the padding of the tokenizer, and with a note for each number that is not the same in both.

    Raises ValueError, with a one-sentence message, if a file in `folder` is damaged.
    """
    config, notes = reading.config, list(reading.notes)
    n_tokens, n_rows = tokenizer.get_vocab_size(), config.vocab_size or 0
    if n_rows != n_tokens:
        reason = (
            "added tokens may be missing, or the size was rounded up"
            if n_rows > n_tokens
            else "several tokens share a row"
        )
        notes.append(f"The embedding has {n_rows:,} rows, the tokenizer {n_tokens:,} tokens: {reason}.")
    padding_id = _padding_id(config, tokenizer, folder)
    if padding_id != config.padding_id:
        own = "has no token for padding" if padding_id is None else f"pads with token {padding_id:,}"
        notes.append(
            f"config.json has pad_token_id {config.padding_id:,}, but the tokenizer {own}: as in its library, "
            f"token {config.padding_id:,} is read like any other."
        )
    return replace(reading, config=replace(config, padding_id=padding_id), notes=notes)


def _padding_id(config: ModelConfig, tokenizer: Tokenizer, folder: Path) -> int | None:
    """The token that is padding: the one that the tokenizer's files name, else the one of config.json, unless that one stands
    for a piece of text.
    """
    if config.padding_id is None:
        return None
    named = read_settings(folder, None, config.vocab_size or 0).named_tokens({}).get("pad_token")
    if named is not None and (padding_id := tokenizer.token_to_id(named.content)) is not None:
        return padding_id
    token = tokenizer.get_added_tokens_decoder().get(config.padding_id)
    is_text = tokenizer.id_to_token(config.padding_id) is not None and (token is None or not token.special)
    return None if is_text else config.padding_id
