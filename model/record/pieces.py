"""The text that a tokenizer's pieces stand for, in the form in which tokens are shown.

Byte-level tokenizers write each byte of a text as one character, so that "naïve" is the piece "naÃ¯ve"; marks such as
"Ġ" and "▁" stand for spaces. A piece that holds only some bytes of a letter is shown as the letter's code point in
brackets, with its part: `[U+1F600]1/2` is the first of the two pieces of 😀. Bytes whose letter is not known, as those of
a piece of the vocabulary, are numbers in brackets: `[0xF09F]`.
"""

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

SPACE, LINE_END, TAB = "·", "↵", "⇥"  # as which white space is shown
SENTENCEPIECE_SPACE, BYTE_LEVEL_SPACE, WORD_END = "▁", "Ġ", "</w>"
_LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_VARIATIONS = set(map(chr, range(0xFE00, 0xFE10)))  # choose the form of the letter before, and are invisible
_BYTE_PIECE = re.compile("<0x([0-9A-F]{2})>")  # SentencePiece's, of letters that its vocabulary lacks
_NOT_DECODED = re.compile("[\udc80-\udcff]+")  # as which Python decodes bytes that are no letter
_CUT_LETTERS = re.compile("^[\udc80-\udcbf]{1,3}|[\udcc0-\udcff][\udc80-\udcbf]{0,2}$")
_LETTER_IN_PARTS = re.compile(r"\[U\+([0-9A-F]{4,6})\]1/(\d)(?:\[U\+\1\][2-9]/\2)+")
# GPT-2's tokenizer writes the bytes that are visible in Latin-1 as these letters, and the others from U+0100 on.
_VISIBLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
GPT2_BYTES = {chr(byte): byte for byte in _VISIBLE} | {
    chr(0x100 + index): byte for index, byte in enumerate(sorted({*range(0x100)} - {*_VISIBLE}))
}
_BYTES = {chr(byte): byte for byte in range(0x100)} | GPT2_BYTES  # ByT5's writes them all as in Latin-1


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a tokenizer writes text in its pieces."""

    byte_level: bool = False  # each character stands for a byte of the text in UTF-8
    space: str = ""  # the mark of a space: "▁", "Ġ" or none
    word_end: str = ""  # the mark of a word's end, such as "</w>"

    def decode(self, pieces: Sequence[str], added: Sequence[bool] | None = None) -> list[str]:
        """The text of each of the consecutive `pieces`, white space included, which `shown` makes visible.

        Where `added` is True, the piece was added to the vocabulary, such as a special token, and is returned unchanged.
        """
        contents = [
            piece if is_added else self._content(piece.removesuffix(self.word_end) or piece)
            for piece, is_added in zip(pieces, added or [False] * len(pieces), strict=True)
        ]
        texts = [content for content in contents if isinstance(content, str)]
        return texts if len(texts) == len(contents) else _decode_pieces(contents)

    def entry(self, piece: str, *, added: bool = False) -> str:
        """A piece of the vocabulary as shown outside a text, with "·" for a space before it or for the end of its word."""
        ends_word = not added and bool(self.word_end) and piece.endswith(self.word_end)
        return marked(self.decode([piece], [added])[0] + " " * ends_word)

    @property
    def marks_words(self) -> bool:
        """Whether pieces mark where a word begins or ends, so that pieces that continue a word need no prefix."""
        return self.byte_level or bool(self.space or self.word_end)

    def separates(self, piece: str, text: str, next_text: str) -> bool:
        """Whether a word ends between a `piece`, whose text is `text`, and the next piece, whose text is `next_text`."""
        if self.word_end:
            return piece.endswith(self.word_end)
        return next_text[:1].isspace() or text[-1:] in ("\n", "\r", "\t")

    def _content(self, piece: str) -> str | bytes:
        """The text of a piece, or the bytes for which it stands."""
        if self.byte_level:
            codes = [_BYTES[character] for character in piece if character in _BYTES]
            return bytes(codes) if len(codes) == len(piece) else piece
        match = _BYTE_PIECE.fullmatch(piece)
        if match is not None:
            return bytes([int(match[1], 16)])
        return piece.replace(self.space, " ") if self.space else piece


def infer_spelling(pieces: Sequence[str]) -> Spelling:
    """The spelling of the `pieces` of a text, without special tokens, inferred from the pieces alone.

    Pieces are byte-level only if all their characters are of that alphabet, their bytes are valid text without control
    characters, and they contain a space or a letter of several bytes. The piece "naïve" is not, since its bytes are not valid.
    """
    word_end = WORD_END if any(piece.endswith(WORD_END) for piece in pieces) else ""
    has_prefix = any(piece[:2] == "##" and piece[2:3].isalnum() for piece in pieces)  # as WordPiece's go on
    marks = (SENTENCEPIECE_SPACE,) if has_prefix else (SENTENCEPIECE_SPACE, BYTE_LEVEL_SPACE)
    space = next((mark for mark in marks if any(piece.startswith(mark) for piece in pieces)), "")
    characters = "".join(piece.removesuffix(word_end) for piece in pieces)
    byte_level = False
    if space != SENTENCEPIECE_SPACE and not has_prefix and set(characters) <= GPT2_BYTES.keys():
        text = bytes(map(GPT2_BYTES.__getitem__, characters)).decode("utf-8", "surrogateescape")
        text = _CUT_LETTERS.sub("", text)
        byte_level = bool(space or not text.isascii()) and not any(map(_is_no_text, text))
    return Spelling(byte_level=byte_level, space=space, word_end=word_end)


def shown(text: str) -> str:
    """The text of one token as it is shown: as `marked` writes it, without the space before a word."""
    is_spaced_word = text[:1] == " " and not (text[1:2] or " ").isspace()
    return marked(text[1:] if is_spaced_word else text)


def marked(text: str) -> str:
    """The text with marks in place of white space, and code points in brackets for what would be invisible.

    The latter are control characters, and joiners and the like that stand alone.
    """
    if text.isprintable() and " " not in text and text[:1] not in _VARIATIONS:
        return text
    if all(unicodedata.category(letter) == "Cf" or letter in _VARIATIONS for letter in text):
        return "".join(map(_code_point, text))
    return "".join(map(_marked_letter, _LINE_ENDS.sub(LINE_END, text)))


def join_pieces(texts: Sequence[str], pieces: Sequence[str]) -> str:
    """The word whose consecutive `pieces` are shown as `texts`; letters that were split into pieces are whole in it."""
    if len(texts) > 1 and texts[0] == SPACE and pieces[0] in (SENTENCEPIECE_SPACE, BYTE_LEVEL_SPACE, " "):
        texts = texts[1:]
    return marked(_LETTER_IN_PARTS.sub(lambda parts: chr(int(parts[1], 16)), "".join(texts)))


def _decode_pieces(contents: Sequence[str | bytes]) -> list[str]:
    """The texts of consecutive pieces, given as text or bytes; a letter split over pieces appears in each as its code point."""
    with suppress(UnicodeDecodeError):  # most often no letter is in several pieces
        return [content if isinstance(content, str) else content.decode() for content in contents]
    encoded = [
        content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        for content in contents
    ]
    piece_of_byte = [index for index, content in enumerate(encoded) for _ in content]
    texts, start = [""] * len(contents), 0
    for letter in b"".join(encoded).decode("utf-8", "surrogateescape"):
        end = start + len(letter.encode("utf-8", "surrogateescape"))
        indices = sorted(set(piece_of_byte[start:end]))
        for number, index in enumerate(indices, start=1):
            texts[index] += letter if len(indices) == 1 else f"{_code_point(letter)}{number}/{len(indices)}"
        start = end
    return [_NOT_DECODED.sub(_name_bytes, text) for text in texts]


def _name_bytes(match: re.Match[str]) -> str:
    return f"[0x{match[0].encode('utf-8', 'surrogateescape').hex().upper()}]"


def _is_no_text(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\t\n\r"


def _marked_letter(letter: str) -> str:
    if letter == "\t":
        return TAB
    if letter.isspace():
        return SPACE
    return _code_point(letter) if unicodedata.category(letter) in ("Cc", "Cs") else letter


def _code_point(letter: str) -> str:
    return f"[U+{ord(letter):04X}]"
