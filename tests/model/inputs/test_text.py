import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE, WordLevel, WordPiece
from tokenizers.pre_tokenizers import ByteLevel, Metaspace, Split, WhitespaceSplit
from tokenizers.processors import TemplateProcessing

from model.inputs.text import (
    Encoded,
    character_spans,
    encode,
    has_character_vocabulary,
    space_out_characters,
    train_tokenizer,
    train_word_tokenizer,
    vocabulary_texts,
    with_contractions,
)
from model.measures.word_view import view
from model.record.from_arrays import from_arrays
from tests.model.tiny import amino_acids, tokenizer


@pytest.fixture(scope="module")
def words():
    return tokenizer(n_positions=6)


def test_a_text_becomes_pieces_with_their_ids(words):
    encoded = encode(words, "Great films")
    assert encoded.tokens == ("[CLS]", "great", "film", "##s", "[SEP]")
    assert encoded.ids == tuple(words.token_to_id(token) for token in encoded.tokens)
    assert encoded.n_left_out == 0


@pytest.mark.parametrize(
    ("text", "n_left_out"),
    [
        ("film film film film", 0),
        ("film film film film great", 1),
        ("film " * 100, 96),
        ("film film film film [MASK] [SEP] films", 4),  # what a user types counts, special or not
    ],
    ids=["fits", "one more", "many", "special"],
)
def test_what_exceeds_the_positions_is_left_out_and_counted(words, text, n_left_out):
    encoded = encode(words, text)
    assert encoded.tokens == ("[CLS]", "film", "film", "film", "film", "[SEP]")
    assert encoded.n_left_out == n_left_out
    assert not encoded.from_start


@pytest.mark.parametrize(
    ("text", "n_unknown", "n_read"),
    [
        ("great film", 0, 2),
        ("☃ film ☃", 2, 3),
        ("☃ film [MASK] not ☃ ☃", 1, 4),  # what is left out does not count
        ("", 0, 0),
    ],
)
def test_unknown_tokens_are_counted_among_those_that_are_read(words, text, n_unknown, n_read):
    encoded = encode(words, text)
    assert (encoded.n_unknown, encoded.n_read) == (n_unknown, n_read)


@pytest.mark.parametrize(
    ("made", "alone"),
    [
        (amino_acids(9), True),
        (tokenizer(9), False),  # letters, their continuations and words
        (Tokenizer(WordLevel({"[UNK]": 0, "a": 1, "b": 2, "c": 3, "cd": 4}, unk_token="[UNK]")), False),
        (Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]")), False),
    ],
    ids=["proteins", "text", "one of four is longer", "nothing"],
)
def test_a_vocabulary_of_characters_is_known_by_its_entries(made, alone):
    assert has_character_vocabulary(made) is alone


def test_special_tokens_stay_whole_where_characters_are_separated():
    made = amino_acids(20)
    assert encode(made, "MKL[MASK]V\nA").n_unknown == 1
    separated = space_out_characters(made, "MKL[MASK]V\nA")
    assert separated == "M K L [MASK] V A"
    assert encode(made, separated).n_unknown == 0
    assert space_out_characters(made, separated) == separated


def test_a_trained_tokenizer_leaves_out_the_beginning():
    words = train_tokenizer(["film great plot"] * 3, vocab_size=100, n_positions=5)
    encoded = encode(words, "film film great plot plot")
    assert encoded.tokens == ("[CLS]", "great", "plot", "plot", "[SEP]")
    assert encoded.n_left_out == 2
    assert encoded.from_start


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It isn't", ("it", "is", "n't")),
        ("it ISN\N{RIGHT SINGLE QUOTATION MARK}T it's", ("it", "is", "n't", "it", "'s")),
        ("I can't", ("i", "can't")),
        ("'can't'", ("'", "can't", "'")),
        ("can'ti", ("can", "'", "ti")),
        ("it 's", ("it", "'", "s")),
        ("can 'is'", ("can", "'", "is", "'")),
    ],
)
def test_contractions_stay_readable(text, tokens):
    plain = ["it is can i ' t s can't isn't it's ti"] * 3
    made = train_tokenizer(plain, vocab_size=60, n_positions=20)
    assert with_contractions(made).encode(text, add_special_tokens=False).tokens == list(tokens)


def test_contractions_come_after_the_tokens_there_are():
    before = tokenizer(n_positions=20)
    after = with_contractions(before)
    known = before.get_vocab()
    new = set(after.get_vocab()) - set(known)
    assert new == {"n't", "'s", "'m", "'d", "'re", "'ve", "'ll", "can't", "won't", "ain't"}
    assert {token: after.token_to_id(token) for token in known} == known
    assert sorted(map(after.token_to_id, new)) == list(range(len(known), len(known) + 10))
    assert with_contractions(after).get_vocab() == after.get_vocab()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ()),
        ("not [MASK]", ("not", "[MASK]")),
        ("🎬", ("[UNK]",)),
        ("\ud83d great \udfff", ("[UNK]", "great", "[UNK]")),  # lone surrogates
        ("gr\0eat\x07 film", ("great", "film")),  # control characters vanish
        ("\n\tfilm\r\n", ("film",)),
    ],
    ids=["nothing", "mask", "emoji", "surrogates", "control characters", "white space"],
)
def test_special_tokens_stand_around_any_text(words, text, tokens):
    assert encode(words, text).tokens == ("[CLS]", *tokens, "[SEP]")


def test_a_tokenizer_without_a_token_for_the_unknown_says_so_in_one_sentence():
    with pytest.raises(ValueError, match="the tokenizer cannot read this text: WordLevel error"):
        encode(Tokenizer(WordLevel({"[UNK]": 0, "a": 1}, unk_token="<unk>")), "b")


def test_words_are_what_white_space_parts():
    words = train_word_tokenizer(["Good film.<br />Good plot", "good plot"], vocab_size=5, n_positions=4)
    assert words.get_vocab() == {"[PAD]": 0, "[UNK]": 1, "good": 2, "plot": 3, "film.": 4}
    encoded = encode(words, "GOOD film. bad plot good")
    assert encoded.tokens == ("good", "film.", "[UNK]", "plot")
    assert encoded.n_left_out == 1


# Roles


def roles(tokenizer: Tokenizer, text: str, padding_id: int | None = None) -> list[tuple[str, str]]:
    encoded = encode(tokenizer, text, padding_id)
    return list(zip(encoded.tokens, encoded.roles, strict=True))


def test_the_names_of_special_tokens_do_not_matter():
    names = {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3, "<mask>": 4, "<extra>": 5, "film": 6, "@@s": 7}
    made = Tokenizer(WordPiece(names, unk_token="<unk>", continuing_subword_prefix="@@"))
    made.pre_tokenizer = WhitespaceSplit()
    made.add_special_tokens(list(names)[:6])
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)])
    assert roles(made, "films film ? <mask> <extra> <pad> </s>", padding_id=0) == [
        ("<s>", "class"),
        ("film", "word"),
        ("@@s", "continuation"),
        ("film", "word"),
        ("<unk>", "unknown"),
        ("<mask>", "mask"),
        ("<extra>", "special"),
        ("<pad>", "padding"),
        ("</s>", "separator"),
        ("</s>", "separator"),
    ]
    encoded = encode(made, "films")
    assert encoded.without_prefix(encoded.tokens) == ("<s>", "film", "s", "</s>")


def test_pieces_without_a_prefix_go_on_with_their_word():
    made = Tokenizer(BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    made.pre_tokenizer = WhitespaceSplit()
    assert roles(made, "aba b") == [("ab", "word"), ("a", "continuation"), ("b", "word")]


# The text of the pieces


def byte_level(merges: str = "", *, split: bool = True) -> Tokenizer:
    """A byte-level tokenizer with a token for each byte and for the results of `merges`, of two pieces each."""
    pairs = [(first, second) for first, _, second in (merge.partition("+") for merge in merges.split())]
    pieces = [*sorted(ByteLevel.alphabet()), *("".join(pair) for pair in pairs)]
    made = Tokenizer(BPE({piece: index for index, piece in enumerate(pieces)}, pairs))
    made.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=split)
    return made


def words_of(encoded: Encoded) -> list[str]:
    n = len(encoded)
    record = from_arrays(
        np.full((1, 1, n, n), 1 / n), encoded.tokens, roles=encoded.roles, pieces=encoded.pieces
    )
    return list(view(record, merged=True).tokens)


@pytest.mark.parametrize(
    ("text", "merges", "tokens", "words"),
    [
        ("naïve", "n+a Ã+¯ v+e", "na ï ve", "naïve"),
        ("a ж", "Ð+¶ Ġ+Ð¶", "a ж", "a ж"),
        ("ж ж", "Ġ+Ð", "[U+0436]1/2 [U+0436]2/2 [U+0436]1/2 [U+0436]2/2", "ж ж"),
        ("😀!", "ð+Ł ĺ+Ģ", "[U+1F600]1/2 [U+1F600]2/2 !", "😀!"),
        ("жж", "¶+Ð", "[U+0436]1/2 [U+0436]2/2[U+0436]1/2 [U+0436]2/2", "жж"),
        ("a\tb\nc", "", "a ⇥ b ↵ c", "a ⇥ b ↵ c"),
        ("a\u200bb\x07", "â+Ģ âĢ+ĭ", "a [U+200B] b [U+0007]", "a [U+200B] b [U+0007]"),
        ("a, “b", "â+Ģ", "a , · [U+201C]1/2 [U+201C]2/2 b", "a , “ b"),
        ("café, isn’t it?", "i+t", None, "café , isn ’ t it ?"),
    ],
)
def test_byte_level_pieces_are_shown_as_the_text_that_they_stand_for(text, merges, tokens, words):
    encoded = encode(byte_level(merges), text)
    if tokens is not None:
        assert " ".join(encoded.tokens) == tokens
    assert " ".join(words_of(encoded)) == words
    pieces = "".join(word for word, _ in ByteLevel(add_prefix_space=False).pre_tokenize_str(text))
    assert "".join(encoded.pieces) == pieces


def test_bytes_are_read_as_such_only_where_the_tokenizer_writes_them():
    names = ["[UNK]", "naïve", "Ã©", "Ġ", "##Ä", "ć"]
    made = Tokenizer(WordPiece({name: index for index, name in enumerate(names)}, unk_token="[UNK]"))
    made.pre_tokenizer = WhitespaceSplit()
    assert encode(made, "naïve Ã© Ġ ć").tokens == ("naïve", "Ã©", "Ġ", "ć")


def test_tokens_that_were_added_are_not_spelled_in_bytes():
    made = byte_level()
    made.add_tokens(["Ã©", "   "])
    assert encode(made, "Ã©   é").tokens == ("Ã©", "···", "[U+00E9]1/2", "[U+00E9]2/2")


def test_sentencepieces_bytes_and_spaces_are_shown_as_their_text():
    names = ["<unk>", "▁", "a", "▁a", *(f"<0x{byte:02X}>" for byte in range(256))]
    made = Tokenizer(
        BPE(
            {name: index for index, name in enumerate(names)},
            [("▁", "a")],
            unk_token="<unk>",
            byte_fallback=True,
        )
    )
    made.pre_tokenizer = Metaspace()
    encoded = encode(made, "a aé ж\n")
    tokens = "a a [U+00E9]1/2 [U+00E9]2/2 · [U+0436]1/2 [U+0436]2/2 ↵"
    assert encoded.tokens == tuple(tokens.split())
    assert encoded.pieces[2:4] == ("<0xC3>", "<0xA9>")
    assert words_of(encoded) == ["a", "aé", "ж↵"]


def test_a_space_begins_a_word_where_the_tokenizer_splits_no_text():
    assert words_of(encode(byte_level("Ġ+b", split=False), "ab b, ж")) == ["ab", "b,", "ж"]


def test_the_texts_of_a_pair_have_words_of_their_own():
    made = byte_level()
    made.post_processor = TemplateProcessing(pair="$A $B", special_tokens=[])
    assert words_of(encode(made, "ab", second="cd")) == ["ab", "cd"]


def test_a_token_by_itself_has_a_mark_of_the_space_before_it():
    made = byte_level("Ã+© Ġ+a")
    ids = [made.token_to_id(piece) for piece in ("Ã©", "Ġa", "a", "Ġ", "Ċ", "Ã")]
    assert vocabulary_texts(made, [*ids, 9999]) == ["é", "·a", "a", "·", "↵", "[0xC3]", None]


def test_a_piece_whose_beginning_was_left_out_still_goes_on():
    reads_the_end = tokenizer(n_positions=4)
    reads_the_end.enable_truncation(4, direction="left")
    assert roles(reads_the_end, "great films x") == [
        ("[CLS]", "class"),
        ("##s", "continuation"),
        ("x", "word"),
        ("[SEP]", "separator"),
    ]


def test_words_without_special_tokens_around_them():
    made = train_word_tokenizer(["a good film"], vocab_size=30, n_positions=12)
    assert roles(made, "good plot", padding_id=0) == [("good", "word"), ("[UNK]", "unknown")]
    assert roles(made, "") == []


def test_each_token_of_the_text_has_its_characters(words):
    text = " films   not"
    spans = character_spans(words, text)
    tokens = encode(words, text).tokens
    assert [token for token, span in zip(tokens, spans, strict=True) if span is None] == ["[CLS]", "[SEP]"]
    covered = [text[span[1] : span[2]] for span in spans if span is not None]
    assert "".join(covered) == "filmsnot"
    assert covered[-1] == "not"


def test_characters_of_a_pair_are_counted_in_each_text_and_white_space_is_left_out():
    made = Tokenizer(WordLevel({"a": 0, "b": 1, " ": 2, "[UNK]": 3}, unk_token="[UNK]"))
    made.pre_tokenizer = Split(" ", "isolated")
    assert character_spans(made, "a b", "b") == ((0, 0, 1), (0, 2, 2), (0, 2, 3), (1, 0, 1))
