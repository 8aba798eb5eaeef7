"""Reads what defines a tokenizer besides its vocabulary: its class, its settings, and the tokens added to the vocabulary.

They are in tokenizer_config.json, special_tokens_map.json, added_tokens.json and tokenizer.json, and are merged as in
`transformers` (`PreTrainedTokenizerBase._from_pretrained` of version 5.23).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from tokenizers import AddedToken, Tokenizer

from ..files.content import read_object
from ..files.encoder_files import ADDED_TOKENS, CONFIG, SPECIAL_TOKENS, TOKENIZER_CONFIG
from ..files.errors import single_line
from ..files.tokenizer_check import check_added_tokens

# in the order in which those are added that the vocabulary lacks
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
LONGEST_CLASS_NAME = 80
MARKS = ("single_word", "lstrip", "rstrip", "normalized", "special")
EXTRA, FORMER_EXTRA = "extra_special_tokens", "additional_special_tokens"


@dataclass(frozen=True, slots=True)
class TokenizerSettings:
    """The settings of a tokenizer, with the tokens that its files list."""

    class_name: str | None  # as a file names it, without "Fast"
    # of tokenizer_config.json, with those of special_tokens_map.json where they count
    options: Mapping[str, Any]
    listed: Mapping[int, AddedToken]  # by their ids
    n_ids: int  # that the encoder's embedding has

    @property
    def listed_names(self) -> set[str]:
        """The tokens that the files list, as text."""
        return {token.content for token in self.listed.values()}

    def named_tokens(self, defaults: Mapping[str, AddedToken]) -> dict[str, AddedToken]:
        """The special tokens by their keys, such as "cls_token"; `defaults` are those of the tokenizer's class."""
        named = {
            key: token for key in NAMED if (token := _as_token(self.options.get(key), defaults.get(key)))
        }
        others = {
            key: value for key, value in self.options.items() if key.endswith("_token") and key not in NAMED
        }
        extra = self.options.get(EXTRA)
        others |= extra if isinstance(extra, dict) else {}
        named |= {key: token for key, value in others.items() if (token := _as_token(value))}
        by_name = {token.content: token for token in self.listed.values()}
        return {key: by_name.get(token.content, token) for key, token in named.items()}

    def extra_tokens(
        self, defaults: Iterable[AddedToken] = (), reads_former_key: bool = True
    ) -> list[AddedToken]:
        """The special tokens that have no key of their own; `defaults` are those of the tokenizer's class.

        They are listed under the key of `transformers` 5 or, if `reads_former_key`, under that of earlier versions.
        """
        for key in (EXTRA, FORMER_EXTRA) if reads_former_key else (EXTRA,):
            if isinstance(values := self.options.get(key), list):
                return [token for value in values if (token := _as_token(value))]
        return list(defaults)

    def add_tokens(
        self, tokenizer: Tokenizer, named: Mapping[str, AddedToken], extra: Iterable[AddedToken]
    ) -> None:
        """Adds to the tokenizer the tokens that the files list, then the special tokens `named` and `extra` if not listed.

        A special token that is not listed is left out if the embedding has no row for it. Raises ValueError, with a
        one-sentence message, if the tokens are too many or too long.
        """
        added = tokenizer.get_added_tokens_decoder().values()
        added_reprs = {repr(token) for token in added}  # with the names
        tokens = [token for _, token in sorted(self.listed.items()) if repr(token) not in added_reprs]
        known, new = {token.content for token in (*added, *tokens)}, set[str]()
        size = tokenizer.get_vocab_size()
        size += sum(tokenizer.token_to_id(token.content) is None for token in tokens)
        for token in (*named.values(), *extra):
            is_new = token.content not in new and tokenizer.token_to_id(token.content) is None
            is_listed = token.content in known or repr(token) in added_reprs
            if not is_listed and not (is_new and size >= self.n_ids):
                tokens.append(token)
                added_reprs.add(repr(token))
                size += is_new
                new.add(token.content)
        check_added_tokens([token.content for token in tokens])
        special = {token.content for token in named.values()}
        for token in tokens:
            token.special = token.special or token.content in special
        tokenizer.add_tokens([token for token in tokens if token.content])


def read_settings(folder: Path, added_by_file: Any, n_ids: int) -> TokenizerSettings:
    """The tokenizer settings in a folder.

    `added_by_file` are the added tokens in its tokenizer.json, None if there is none; `n_ids` is the size of the embedding.
    Raises ValueError, with a one-sentence message, if a file is damaged.
    """
    options = _read_json_object(folder / TOKENIZER_CONFIG)
    class_name = options.get("tokenizer_class") or _read_json_object(folder / CONFIG).get("tokenizer_class")
    if not class_name and "word_tokenizer_type" in options:  # which no other class has
        class_name = "BertJapaneseTokenizer"
    if not isinstance(class_name, str | None):
        raise ValueError(f"its tokenizer_class is {shortened(class_name)}, which must be a name")
    class_name = class_name and single_line(class_name.removesuffix("Fast"), LONGEST_CLASS_NAME)
    if FORMER_EXTRA in options and not options.get(EXTRA):
        options[EXTRA] = options.pop(FORMER_EXTRA)
    listed: dict[int, AddedToken] = {}
    if isinstance(decoder := options.get("added_tokens_decoder"), dict):
        for index, value in decoder.items():
            if index[:9].isdecimal() and (token := _as_token(value)):
                listed[int(index[:9])] = token
    else:
        for key, value in _read_json_object(folder / SPECIAL_TOKENS).items():
            if key == EXTRA and isinstance(value, list) and isinstance(options.get(EXTRA), list):
                options[EXTRA] = [*options[EXTRA], *value]
            else:
                options[key] = (
                    value | {"special": True} if isinstance(value, dict) and key != EXTRA else value
                )
        settings = TokenizerSettings(class_name, options, {}, n_ids)
        special = {token.content for token in settings.named_tokens({}).values()}
        special |= {token.content for token in settings.extra_tokens()} if EXTRA in options else set()
        for name, index in _read_json_object(folder / ADDED_TOKENS).items():
            if type(index) is int:
                is_special = name in special
                listed[index] = AddedToken(name, special=is_special, normalized=not is_special)
        for value in added_by_file if isinstance(added_by_file, list) else []:
            if isinstance(value, dict) and type(value.get("id")) is int and (token := _as_token(value)):
                listed[value["id"]] = token
    return TokenizerSettings(class_name, options, listed, n_ids)


def _read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if there is no file."""
    return read_object(path, path.name) if path.is_file() else {}


def _as_token(value: Any, otherwise: AddedToken | None = None) -> AddedToken | None:
    """The token that a file gives as a string, or as an object with `content`; `otherwise` for any other value."""
    if isinstance(value, str) and value:
        return AddedToken(value, special=True)
    if isinstance(value, dict) and isinstance(name := value.get("content"), str) and name:
        return AddedToken(name, **{mark: value[mark] for mark in MARKS if isinstance(value.get(mark), bool)})
    return otherwise
