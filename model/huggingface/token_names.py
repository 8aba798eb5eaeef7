"""The names of special tokens in tokenizer_config.json, and their ids."""

from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer


def token_name(options: Mapping[str, Any], key: str, otherwise: str) -> str:
    """The token that the options hold under `key`, as a text or as an object with `content`; `otherwise` if there is none."""
    value = options.get(key, otherwise)
    value = value.get("content", otherwise) if isinstance(value, dict) else value
    return value if isinstance(value, str) and value else otherwise


def token_ids(tokenizer: Tokenizer, first: str, second: str, file: str) -> list[tuple[str, int]]:
    """Names and ids of the tokens `first` and `second`. Raises ValueError if the vocabulary in `file` lacks either."""
    ids = [(name, index) for name in (first, second) if (index := tokenizer.token_to_id(name)) is not None]
    if len(ids) < 2:
        raise ValueError(f"{file} has no {first} or no {second}")
    return ids
