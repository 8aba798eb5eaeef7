"""Encodes texts as token ids, and trains tokenizers, with the `tokenizers` library."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from tokenizers import Encoding, Regex, Tokenizer, decoders, normalizers
from tokenizers.models import WordLevel, WordPiece
from tokenizers.pre_tokenizers import Sequence, Split, WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer, WordPieceTrainer

from ..files.errors import errors_in_one_sentence
from ..record import Positions, Role, Span
from ..record.pieces import BYTE_LEVEL_SPACE, SENTENCEPIECE_SPACE, Spelling, shown

PADDING, UNKNOWN, CLASS, SEPARATOR, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL_TOKENS = (PADDING, UNKNOWN, CLASS, SEPARATOR, MASK)
UNKNOWN_NAMES = ("[unk]", "<unk>")
NEARLY_ALL = 0.9
MOST_GROWTH = 20  # of a text, in characters; Unicode's normal forms make up to 18 of one
SHORT = 50  # characters: a shorter text may grow as one of these
BREAKS = normalizers.Replace("<br />", " ")  # the reviews' own line breaks
APOSTROPHES = normalizers.Replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
# "isn't" is read as "is" and "n't", as in the Penn Treebank; of these the rest would be no word.
WHOLE_CONTRACTIONS = ("can't", "won't", "ain't")
ENDINGS = ("n't", "'s", "'m", "'d", "'re", "'ve", "'ll")
# besides the contractions as in BERT: at spaces, and each punctuation mark by itself
_PARTS = Regex(
    rf"\b(?:{'|'.join(WHOLE_CONTRACTIONS)})\b|(?<=\w)(?:{'|'.join(ENDINGS)})\b|[!-/:-@\[-`{{-~]|\p{{P}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded(Positions):
    """Tokens of one text, or pair of texts, with their ids and the number of tokens that were left out."""

    ids: tuple[int, ...]
    types: tuple[int, ...]  # 0 for a token of the first part of the text, 1 for one of the second
    n_read: int  # without special tokens
    n_left_out: int
    from_start: bool  # whether the left-out tokens are the text's first ones, or else its last

    @property
    def n_unknown(self) -> int:
        """Number of tokens that are not in the vocabulary, among the `n_read` ones."""
        return len(self.positions_with_role("unknown"))


def encode(
    tokenizer: Tokenizer, text: str, padding_id: int | None = None, second: str | None = None
) -> Encoded:
    """Tokens of a text, special tokens included; tokens beyond the truncation length are left out and counted.

    A token with the id `padding_id` has the role padding; padding that the tokenizer itself adds has the role special, and is
    not masked. `second` is the second text of a pair.
    Raises ValueError, with a one-sentence message, if the tokenizer cannot read the text.
    """
    texts = _as_unicode(text, second)
    with errors_in_one_sentence("the tokenizer cannot read this text"):
        for text_part in texts:
            if tokenizer.normalizer is not None:
                n_characters = len(tokenizer.normalizer.normalize_str(text_part))
                if n_characters > MOST_GROWTH * max(len(text_part), SHORT):
                    raise ValueError(f"it makes {n_characters:,} characters of {len(text_part):,}")
        encoding = tokenizer.encode(texts[0], texts[1] if len(texts) > 1 else None)
        lengths = [_n_tokens(tokenizer, text_part) for text_part in texts] if second is not None else []
    added, spelling = tokenizer.get_added_tokens_decoder(), spelling_of(tokenizer)
    texts_of_tokens = spelling.decode(encoding.tokens, [id_ in added for id_ in encoding.ids])
    n_read = encoding.special_tokens_mask.count(0)
    if second is None:
        n_left_out = sum(text_part.special_tokens_mask.count(0) for text_part in encoding.overflowing)
    else:  # for a pair the library lists what it cut in several combinations
        n_left_out = sum(lengths) - n_read
    from_start = (tokenizer.truncation or {}).get("direction") == "left"
    return Encoded(
        ids=tuple(encoding.ids),
        types=tuple(encoding.type_ids),
        tokens=tuple(map(shown, texts_of_tokens)),
        pieces=tuple(encoding.tokens),
        roles=_token_roles(tokenizer, encoding, padding_id, continues_word(tokenizer, encoding, spelling)),
        continuing_prefix=continuing_prefix(tokenizer),
        n_read=n_read,
        n_left_out=n_left_out,
        from_start=from_start,
    )


def spelling_of(tokenizer: Tokenizer) -> Spelling:
    """How the tokenizer writes bytes and spaces in its pieces, found by encoding a letter outside ASCII and a space."""
    text = "".join(_split_into_words(tokenizer, "ж ж"))
    byte_level = "Ð¶" in text  # its two bytes, as letters of Latin-1
    space = BYTE_LEVEL_SPACE if byte_level else SENTENCEPIECE_SPACE
    return Spelling(
        byte_level=byte_level,
        space=space if space in text else "",
        word_end=getattr(tokenizer.model, "end_of_word_suffix", None) or "",  # CLIP's words end in it
    )


def _split_into_words(tokenizer: Tokenizer, text: str) -> list[str]:
    """The words into which the tokenizer splits a text before its model divides them into pieces."""
    if tokenizer.normalizer is not None:
        text = tokenizer.normalizer.normalize_str(text)
    if tokenizer.pre_tokenizer is None:
        return [text]
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]


def continuing_prefix(tokenizer: Tokenizer) -> str:
    """The prefix with which the tokenizer marks a piece that continues a word, such as "##"; "" if it has none."""
    return getattr(tokenizer.model, "continuing_subword_prefix", None) or ""


def vocabulary_texts(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str | None]:
    """The tokens with the given `ids` as they are shown by themselves, the space before a word as "·"; None for no token."""
    spelling, added = spelling_of(tokenizer), tokenizer.get_added_tokens_decoder()
    pieces = ((id_, tokenizer.id_to_token(id_)) for id_ in ids)
    return [None if piece is None else spelling.entry(piece, added=id_ in added) for id_, piece in pieces]


def continues_word(tokenizer: Tokenizer, encoding: Encoding, spelling: Spelling) -> list[bool]:
    """Whether each token continues the word of the token before it, by the word indices of the `encoding`.

    Without word indices, from tokenizers that do not split texts at spaces, a space begins a word. A piece with the prefix of
    continuations ("##") continues a word even if the pieces before it were left out.
    """
    prefix = continuing_prefix(tokenizer)
    is_split = not spelling.space or len(_split_into_words(tokenizer, "ж ж")) > 1
    words = list(zip(encoding.sequence_ids, encoding.word_ids, strict=True))
    texts = [] if is_split else spelling.decode(encoding.tokens)
    continues = []
    for index, token in enumerate(encoding.tokens):
        goes_on = token.removeprefix(prefix) not in ("", token)
        if index and words[index] == words[index - 1] and words[index][1] is not None:
            goes_on |= is_split or not spelling.separates(
                encoding.tokens[index - 1], texts[index - 1], texts[index]
            )
        continues.append(goes_on)
    return continues


def character_spans(tokenizer: Tokenizer, text: str, second: str | None = None) -> tuple[Span | None, ...]:
    """The characters of each token of `encode`, without white space around them; None for a token that is not of the text.

    The span of white space alone is empty. Raises ValueError, with a one-sentence message, if the tokenizer cannot read
    the text.
    """
    texts = _as_unicode(text, second)
    with errors_in_one_sentence("the tokenizer cannot read this text"):
        encoding = tokenizer.encode(texts[0], texts[1] if len(texts) > 1 else None)
    spans: list[Span | None] = []
    for number, (start, end) in zip(encoding.sequence_ids, encoding.offsets, strict=True):
        if number is None:
            spans.append(None)
            continue
        covered = texts[number][start:end]
        start += len(covered) - len(covered.lstrip())
        spans.append((number, start, start + len(covered.strip())))
    return tuple(spans)


def _as_unicode(text: str, second: str | None) -> list[str]:
    """One text, or the two of a pair. A lone surrogate, which the tokenizer refuses, becomes a question mark."""
    parts = [text] if second is None else [text, second]
    return [text_part.encode("utf-8", "replace").decode("utf-8") for text_part in parts]


def _n_tokens(tokenizer: Tokenizer, text: str) -> int:
    """Number of tokens of a text, without special tokens and without truncation."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return len(encoding.ids) + sum(len(part.ids) for part in encoding.overflowing)


def _token_roles(
    tokenizer: Tokenizer, encoding: Encoding, padding_id: int | None, continues: list[bool]
) -> tuple[Role, ...]:
    """Role of each token, by the tokenizer's special tokens; other tokens are continuations if `continues`, else words."""
    special_marks = encoding.special_tokens_mask
    # Only the name of a special token says that it is the mask, or with a Unigram vocabulary the unknown token.
    role_by_id: dict[int | None, Role] = {
        id_: "mask"
        if "mask" in token.content.lower()
        else "unknown"
        if token.content.lower() in UNKNOWN_NAMES
        else "special"
        for id_, token in tokenizer.get_added_tokens_decoder().items()
        if token.special
    }
    role_by_id |= {
        id_: "separator" for id_, is_special in zip(encoding.ids, special_marks, strict=True) if is_special
    }
    if special_marks[:1] == [1]:
        role_by_id[encoding.ids[0]] = "class"
    unknown_id = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
    if role_by_id.get(unknown_id) not in ("class", "separator"):  # in CLIP it is the end token as well
        role_by_id[unknown_id] = "unknown"
    role_by_id[padding_id] = "padding"
    roles: list[Role] = []
    for id_, is_continuation, is_text in zip(encoding.ids, continues, encoding.attention_mask, strict=True):
        role = role_by_id.get(id_) or ("continuation" if is_continuation else "word")
        roles.append(role if is_text else "special")
    return tuple(roles)


def has_character_vocabulary(tokenizer: Tokenizer) -> bool:
    """Whether nearly all tokens are single characters, as for proteins; texts may then need spaces between characters."""
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special}
    entries = set(tokenizer.get_vocab()) - special - {getattr(tokenizer.model, "unk_token", None)}
    return bool(entries) and sum(len(entry) == 1 for entry in entries) >= NEARLY_ALL * len(entries)


def space_out_characters(tokenizer: Tokenizer, text: str) -> str:
    """The text with a space between its characters; special tokens in it, such as [MASK], are not split."""
    special = (token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special)
    longest_first = sorted(special, key=len, reverse=True)
    return " ".join(re.findall("|".join([*map(re.escape, longest_first), r"\S"]), text))


def train_tokenizer(texts: Iterable[str], vocab_size: int, n_positions: int) -> Tokenizer:
    """Trains a WordPiece tokenizer for lower-cased text, which adds special tokens and truncates to `n_positions`."""
    tokenizer = Tokenizer(WordPiece(unk_token=UNKNOWN))
    _split_contractions(tokenizer)
    tokenizer.decoder = decoders.WordPiece()
    trainer = WordPieceTrainer(
        vocab_size=vocab_size, special_tokens=list(SPECIAL_TOKENS), limit_alphabet=200, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    ids = [(token, tokenizer.token_to_id(token)) for token in (CLASS, SEPARATOR)]
    tokenizer.post_processor = TemplateProcessing(single=f"{CLASS} $A {SEPARATOR}", special_tokens=ids)
    tokenizer.enable_truncation(n_positions, direction="left")  # a long review's verdict is at its end
    return tokenizer


def with_contractions(tokenizer: Tokenizer) -> Tokenizer:
    """Copy of the tokenizer with one more token for each English contraction ("don't", "n't", ...).

    The new ids follow those of the other tokens, which stay the same.
    """
    description = json.loads(tokenizer.to_str())
    vocabulary = description["model"]["vocab"]
    for contraction in (*WHOLE_CONTRACTIONS, *ENDINGS):
        vocabulary.setdefault(contraction, len(vocabulary))
    extended = Tokenizer.from_str(json.dumps(description))
    _split_contractions(extended)
    return extended


def _split_contractions(tokenizer: Tokenizer) -> None:
    lower_case = normalizers.BertNormalizer(lowercase=True)
    tokenizer.normalizer = normalizers.Sequence([BREAKS, APOSTROPHES, lower_case])
    tokenizer.pre_tokenizer = Sequence([Split(_PARTS, "isolated"), WhitespaceSplit()])


def train_word_tokenizer(texts: Iterable[str], vocab_size: int, n_positions: int) -> Tokenizer:
    """Trains a tokenizer of lower-cased words separated by white space, without class token and separator."""
    tokenizer = Tokenizer(WordLevel(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence([BREAKS, normalizers.Lowercase()])
    tokenizer.pre_tokenizer = WhitespaceSplit()
    trainer = WordLevelTrainer(vocab_size=vocab_size, special_tokens=[PADDING, UNKNOWN], show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.enable_truncation(n_positions)
    return tokenizer
