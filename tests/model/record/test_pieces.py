import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.pre_tokenizers import ByteLevel

from model.record.pieces import Spelling, infer_spelling, join_pieces, marked, shown

BYTES = Spelling(byte_level=True, space="Ġ")
LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Mn"))


def in_bytes(text: str) -> str:
    """The text in the alphabet of byte-level tokenizers, as the library writes it."""
    ((piece, _),) = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    return piece


@given(st.text(LETTERS, min_size=1), st.lists(st.integers(1, 5)))
def test_the_parts_of_a_text_are_the_text_again(text, lengths):
    whole, pieces = in_bytes(text), []
    for length in [*lengths, len(whole)]:
        pieces.append(whole[:length])
        whole = whole[length:]
    pieces = [piece for piece in pieces if piece]
    texts = BYTES.decode(pieces)
    assert join_pieces(texts, pieces) == text
    for piece, part in zip(pieces, texts, strict=True):
        decoded = ByteLevelDecoder().decode([piece])
        assert part == decoded or "[U+" in part


@given(st.text(LETTERS | st.just(" "), min_size=1))
def test_a_text_in_bytes_is_known_as_such_by_its_pieces_alone(text):
    piece = in_bytes(f" {text}")
    assert BYTES.decode([piece]) == infer_spelling([piece]).decode([piece]) == [f" {text}"]


@pytest.mark.slow
@given(st.text(st.characters(codec="latin-1", categories=("L", "N", "P")), min_size=1))
def test_a_word_in_latin_letters_is_not_taken_for_bytes(word):
    data = word.encode("latin-1")
    # a letter of several bytes may be cut at either end
    middles = [data[start : len(data) - end] for start in range(4) for end in range(4)]
    assert not infer_spelling([word]).byte_level or any(map(_is_text_beyond_ascii, middles))


def _is_text_beyond_ascii(data: bytes) -> bool:
    try:
        return not data.decode().isascii()
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" film", "film"),
        ("film", "film"),
        (" ", "·"),
        ("  film", "··film"),
        ("\n", "↵"),
        ("\r\n", "↵"),
        (" \n\t", "·↵⇥"),
        ("of course", "of·course"),
        ("a\u00a0b\u3000", "a·b·"),
        ("\u200d", "[U+200D]"),
        (" \ufe0f", "[U+FE0F]"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("\x07a", "[U+0007]a"),
        ("ि", "ि"),
        ("", ""),
    ],
)
def test_what_would_be_invisible_is_marked(text, expected):
    assert shown(text) == expected


def test_a_space_before_a_word_is_marked_where_the_word_stands_alone():
    assert marked(" film") == "·film"
    assert Spelling(word_end="</w>").entry("film</w>") == "film·"
    assert Spelling(word_end="</w>").entry("film") == "film"
    assert Spelling(space="▁").entry("▁film") == "·film"


def test_bytes_whose_letter_was_cut_are_numbers():
    assert BYTES.decode(["ĠðŁ", "ĺ"]) == [" [0xF09F]", "[0x98]"]
    assert infer_spelling(["Ġa", "ðŁĺ"]).byte_level
