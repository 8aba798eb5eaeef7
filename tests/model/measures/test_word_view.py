import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from model.capture import capture
from model.inputs.text import character_spans, encode
from model.measures.word_view import AlignedWords, align_words, distributions, hidden_positions, view
from model.record import AttentionRecord, Positions
from model.record.from_arrays import from_arrays
from tests.model import tiny
from tests.tolerance import rounding

#         [CLS]  un   ##do  it   [SEP]
BY_HAND = [
    [0.10, 0.20, 0.30, 0.40, 0.00],
    [0.50, 0.10, 0.10, 0.10, 0.20],
    [0.10, 0.30, 0.50, 0.10, 0.00],
    [0.20, 0.20, 0.20, 0.20, 0.20],
    [1.00, 0.00, 0.00, 0.00, 0.00],
]
TOKENS = ("[CLS]", "un", "##do", "it", "[SEP]")


@pytest.fixture
def record() -> AttentionRecord:
    return from_arrays(np.array(BY_HAND, np.float32)[None, None], TOKENS)


def test_to_a_word_the_sum_and_from_a_word_the_mean_by_hand(record):
    result = view(record, merged=True)
    assert result.tokens == ("[CLS]", "undo", "it", "[SEP]")
    assert result.roles == ("class", "word", "word", "separator")
    assert result.numbers == (0, 1, 3, 4)
    assert result.units == "words"
    expected = [
        [0.10, 0.50, 0.40, 0.00],
        [0.30, 0.50, 0.10, 0.10],
        [0.20, 0.40, 0.20, 0.20],
        [1.00, 0.00, 0.00, 0.00],
    ]
    np.testing.assert_allclose(result.pattern[0, 0], expected, rtol=rounding(8))


def test_what_is_hidden_is_given_to_nobody_by_hand(record):
    result = view(record, hidden=True)
    assert result.labels == ("1 un", "2 ##do", "3 it")
    np.testing.assert_array_equal(result.pattern, record.pattern[..., 1:4, 1:4])
    np.testing.assert_allclose(result.pattern[0, 0].sum(axis=-1), [0.3, 0.9, 0.6], rtol=rounding(8))
    both = view(record, merged=True, hidden=True)
    np.testing.assert_allclose(both.pattern[0, 0], [[0.5, 0.1], [0.4, 0.2]], rtol=rounding(8))
    assert both.labels == ("1 undo", "3 it")


@tiny.encoders
@pytest.mark.parametrize("hidden", [False, True])
def test_against_products_with_the_words_membership(loaded, given_input, hidden):
    read = "a great films notx xyz [MASK]" if isinstance(given_input, str) else given_input
    record = capture(loaded, read)
    result = view(record, merged=True, hidden=hidden)
    words = []
    for index, role in enumerate(record.roles):
        if role == "continuation":
            words[-1].append(index)
        elif not (hidden and role in ("class", "separator")):
            words.append([index])
    member = np.zeros((len(words), len(record)))
    for word, pieces in enumerate(words):
        member[word, pieces] = 1
    mean = member / member.sum(axis=1, keepdims=True)
    expected = mean @ record.pattern.astype(float) @ member.T
    np.testing.assert_allclose(result.pattern, expected, rtol=rounding(64), atol=rounding(8))
    np.testing.assert_array_equal(result.mask, member @ record.mask @ member.T > 0)


def test_each_position_is_found_by_the_one_of_the_input(record):
    result = view(record, merged=True, hidden=True)
    assert [result.position_of(number) for number in range(5)] == [0, 0, 0, 1, 1]
    assert [record.position_of(number) for number in (-1, 0, 4, 9)] == [0, 0, 4, 4]
    assert [result.number(index) for index in range(2)] == [1, 3]


def test_of_a_picture_the_class_token_is_hidden_and_the_grid_stays():
    record = capture(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8) * 255)
    result = view(record, merged=True, hidden=True)
    assert (len(result), result.first_patch, result.patch_grid) == (4, 0, (2, 2))
    np.testing.assert_array_equal(result.pattern, record.pattern[..., 1:, 1:])
    assert view(record, merged=True) is record


def test_keys_that_are_no_queries_are_merged_as_well():
    pattern = np.array([[[[0.25, 0.25, 0.5], [0.0, 1.0, 0.0]]]], np.float32)
    record = from_arrays(pattern, ("a", "b"), keys=("x", "##y", "[SEP]"))
    result = view(record, merged=True, hidden=True)
    np.testing.assert_array_equal(result.pattern, [[[[0.5], [1.0]]]])
    assert result.attended.tokens == ("xy",)
    assert result.tokens == ("a", "b")


def test_nothing_is_hidden_where_nothing_else_is_there():
    record = from_arrays(np.full((1, 1, 2, 2), 0.5), ("[CLS]", "[SEP]"))
    assert hidden_positions(record) == ()
    assert view(record, merged=True, hidden=True) is record


def test_a_piece_whose_word_is_not_there_stands_alone():
    record = from_arrays(np.full((1, 1, 3, 3), 1 / 3), ("[CLS]", "##s", "a"))
    assert view(record, merged=True) is record


def test_a_view_of_a_view_says_where_things_stood_in_the_input(record):
    assert view(view(record, hidden=True), merged=True).numbers == (1, 3)


def pieces(*words: str) -> Tokenizer:
    """Uncased word pieces between [CLS] and [SEP], as in BERT."""
    vocabulary = {word: index for index, word in enumerate(("[UNK]", "[CLS]", "[SEP]", *words))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


def of_bytes() -> Tokenizer:
    """Each byte a token, within words that begin with a space, between <s> and </s>, as in RoBERTa before any merge."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=258,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=False)
    return tokenizer


def aligned(
    first: Tokenizer, second: Tokenizer, text: str, other: str | None = None
) -> tuple[AlignedWords, AlignedWords]:
    return align_words(
        encode(first, text, None, other),
        encode(second, text, None, other),
        character_spans(first, text, other),
        character_spans(second, text, other),
    )


def tokens_of(tokenizer: Tokenizer, words: AlignedWords, text: str, other: str | None = None) -> list[str]:
    """Each word that has a counterpart, as its tokens side by side."""
    tokens = encode(tokenizer, text, None, other).tokens
    return ["+".join(tokens[position] for position in words.groups[word]) for word in words.matched]


def test_words_correspond_by_their_characters_and_special_tokens_by_their_role():
    text = "Good films, good café"
    first = pieces("good", "film", "##s", ",", "caf", "##e")
    second = of_bytes()
    one, other = aligned(first, second, text)
    assert tokens_of(first, one, text) == ["[CLS]", "good", "film+##s", ",", "good", "caf+##e", "[SEP]"]
    assert tokens_of(second, other, text) == [
        "<s>",
        "·+G+o+o+d",
        "·+f+i+l+m+s",
        ",",
        "·+g+o+o+d",
        "·+c+a+f+[U+00E9]1/2+[U+00E9]2/2",
        "</s>",
    ]
    assert one.unmatched == other.unmatched == ()


def test_words_that_one_tokenizer_splits_are_joined():
    text = "it isn't bad"
    first, second = pieces("it", "isn", "'", "t", "bad"), pieces("it", "isn't", "bad")
    second.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    one, other = aligned(first, second, text)
    assert tokens_of(first, one, text) == ["[CLS]", "it", "isn+'+t", "bad", "[SEP]"]
    assert tokens_of(second, other, text) == ["[CLS]", "it", "isn't", "bad", "[SEP]"]


def test_an_unknown_word_is_still_the_word_at_its_place():
    text = "a quokka a"
    first = pieces("a")
    one, _ = aligned(first, of_bytes(), text)
    assert tokens_of(first, one, text) == ["[CLS]", "a", "[UNK]", "a", "[SEP]"]


def test_what_one_side_does_not_read_has_no_counterpart():
    text = "good bad good"
    first, second = pieces("good", "bad"), of_bytes()
    first.enable_truncation(4)  # [CLS] good bad [SEP]
    one, other = aligned(first, second, text)
    assert tokens_of(first, one, text) == ["[CLS]", "good", "bad", "[SEP]"]
    assert tokens_of(second, other, text) == ["<s>", "·+g+o+o+d", "·+b+a+d", "</s>"]
    assert one.unmatched == ()
    assert other.unmatched == (3,)


def test_without_special_tokens_on_one_side_the_words_remain():
    text = "good bad"
    first, second = pieces("good", "bad"), pieces("good", "bad")
    second.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    one, other = aligned(first, second, text)
    assert (one.matched, one.unmatched) == ((1, 2), (0, 3))
    assert (other.matched, other.unmatched) == ((0, 1), ())


def test_of_a_pair_the_separators_behind_the_same_text_correspond():
    first, second = pieces("a", "b"), of_bytes()
    one, other = aligned(first, second, "a b", "a")
    assert tokens_of(first, one, "a b", "a") == ["[CLS]", "a", "b", "[SEP]", "a", "[SEP]"]
    assert tokens_of(second, other, "a b", "a") == ["<s>", "·+a", "·+b", "</s>+</s>", "·+a", "</s>"]


def test_a_mark_of_white_space_belongs_to_the_word_behind_it():
    spans = [None, (0, 2, 2), (0, 2, 4), None]
    marked = Positions(tokens=("<s>", "▁", "no", "</s>"), roles=("class", "word", "unknown", "separator"))
    plain = Positions(tokens=("[CLS]", "no", "[SEP]"), roles=("class", "word", "separator"))
    one, other = align_words(marked, plain, spans, [None, (0, 2, 4), None])
    assert one.groups == ((0,), (1, 2), (3,))
    assert one.matched == other.matched == (0, 1, 2)


# The maps and the states

#         [CLS]  un   ##do  it
WEIGHTS_BY_HAND = [
    [0.10, 0.20, 0.30, 0.40],
    [0.50, 0.10, 0.10, 0.30],
    [0.10, 0.30, 0.50, 0.10],
    [0.25, 0.25, 0.25, 0.25],
]
WORDS = AlignedWords(starts=(0, 1, 3), n_positions=4, matched=(0, 1))


def test_weights_to_pieces_are_added_up_and_from_them_averaged_by_hand():
    merged = WORDS.merge(from_arrays([[WEIGHTS_BY_HAND]], ["[CLS]", "un", "##do", "it"]))
    assert merged.tokens == ("[CLS]", "undo", "it")
    assert merged.roles == ("class", "word", "word")
    assert merged.numbers == (0, 1, 3)
    assert merged.units == "words"
    expected = [[0.1, 0.5, 0.4], [0.3, 0.5, 0.2], [0.25, 0.5, 0.25]]
    np.testing.assert_allclose(merged.pattern[0, 0], expected, rtol=rounding(8))
    np.testing.assert_allclose(
        WORDS.matched_weights(merged.pattern[0, 0]), [[0.1, 0.5], [0.3, 0.5]], rtol=rounding(8)
    )


def test_where_no_word_has_pieces_the_map_is_the_same():
    record = from_arrays([[WEIGHTS_BY_HAND]], ["a", "b", "c", "d"])
    merged = AlignedWords(starts=(0, 1, 2, 3), n_positions=4, matched=(0, 1, 2, 3)).merge(record)
    np.testing.assert_array_equal(merged.pattern, record.pattern)
    assert merged.units == "words"


def test_two_separators_are_one_and_stay_a_separator():
    record = from_arrays([[WEIGHTS_BY_HAND]], ["<s>", "a", "</s>", "</s>"])
    merged = AlignedWords(starts=(0, 1, 2), n_positions=4, matched=(0, 1, 2)).merge(record)
    assert merged.roles == ("class", "word", "separator")


def test_states_of_pieces_are_averaged_by_hand():
    states = np.array([[[1, 2], [3, 4], [5, 8], [0, 1]]], np.float32)
    np.testing.assert_array_equal(WORDS.matched_states(states), [[[1, 2], [4, 6]]])


def test_weight_on_words_without_a_counterpart_is_a_last_key_by_hand():
    first = np.array([[0.1, 0.5, 0.4], [0.3, 0.5, 0.2], [0.2, 0.5, 0.3]])
    second = np.array([[0.7, 0.3], [0.4, 0.6]])
    whole = AlignedWords(starts=(0, 1), n_positions=2, matched=(0, 1))
    one, other = distributions(first, second, (WORDS, whole))
    np.testing.assert_allclose(one, [[0.1, 0.5, 0.4], [0.3, 0.5, 0.2]])
    np.testing.assert_allclose(other, [[0.7, 0.3, 0], [0.4, 0.6, 0]], atol=1e-15)
    one, other = distributions(second, second[::-1], (whole, whole))
    np.testing.assert_array_equal(one, second)
    np.testing.assert_array_equal(other, second[::-1])
