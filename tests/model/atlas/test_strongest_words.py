from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer, UnigramTrainer

from model.atlas.linked_inputs import TO_DEPENDENT, TO_HEAD, Link, LinkedText
from model.atlas.strongest_words import (
    WordPositions,
    link_cells,
    patch_positions,
    strongest_other_group,
    strongest_words,
    word_positions,
)
from model.capture import capture
from model.inputs import prepare
from model.measures.word_view import view
from tests.model import tiny

TEXT = "great films not xyz"  # the tokenizer splits "films" into film ##s, and "xyz" into x ##y ##z
SPANS = ((0, 5), (6, 11), (12, 15), (16, 19))
LINKS = (Link(0, 1, "amod"), Link(3, 2, "dep"))


@pytest.fixture(scope="module")
def loaded():
    return tiny.loaded(replace(tiny.TEXT, n_positions=20))


def test_the_strongest_word_of_each_word(loaded):
    result = strongest_words(loaded, LinkedText(TEXT, words=SPANS, links=()))
    pattern = view(capture(loaded, TEXT), merged=True, hidden=True).pattern.copy()
    for word in range(4):
        pattern[:, :, word, word] = -1
    np.testing.assert_array_equal(result, pattern.argmax(axis=-1))


def positions_by_hand(tokens) -> list[list[int]]:
    """The positions of each word, by the marks of continued words."""
    words: list[list[int]] = []
    for position, token in enumerate(tokens):
        if token.startswith("["):
            continue
        if token.startswith("##"):
            words[-1].append(position)
        else:
            words.append([position])
    return words


@pytest.mark.parametrize("direction", [TO_HEAD, TO_DEPENDENT])
def test_a_sentence_by_hand(loaded, direction):
    record = capture(loaded, TEXT)
    words = positions_by_hand(record.tokens)
    assert len(words) == 4
    assert any(len(word) > 1 for word in words)
    result = link_cells(loaded, LinkedText(TEXT, words=SPANS, links=LINKS), direction)
    assert [cells.relation for cells in result] == ["amod", "dep"]
    for cells, (dependent, head, _) in zip(result, LINKS, strict=True):
        query, key = (dependent, head) if direction == TO_HEAD else (head, dependent)
        assert cells.words == (TEXT.split()[query], TEXT.split()[key])
        assert cells.queries == tuple(words[query])
        assert cells.keys == tuple(words[key])
        for layer, index in np.ndindex(2, 2):
            weight = [
                np.mean([sum(record.pattern[layer, index, i, j] for j in word) for i in words[query]])
                for word in words
            ]
            weight[query] = -1
            assert cells.hits[layer, index] == (np.argmax(weight) == key)


def test_words_that_share_a_token_are_no_strongest_words_and_have_no_links(loaded):
    """ "fi" and "lms" share the token "film": they have no key, and are none."""
    links = (Link(1, 2, "dep"), Link(0, 1, "dep"))
    sentence = LinkedText("not films", words=((0, 3), (4, 6), (6, 9)), links=links)
    assert (strongest_words(loaded, sentence) == -1).all()
    assert link_cells(loaded, sentence) == ()


def test_links_beyond_the_length_that_is_read_are_left_out():
    short = tiny.loaded(replace(tiny.TEXT, n_positions=4))
    short = replace(short, tokenizer=tiny.tokenizer(4))
    links = (Link(0, 1, "x"), Link(2, 3, "y"))
    sentence = LinkedText("a b c d", words=((0, 1), (2, 3), (4, 5), (6, 7)), links=links)
    assert [cells.relation for cells in link_cells(short, sentence)] == ["x"]


QUOTED_TEXT = "A film “isn't great”, café"
WORDS = ((0, 1), (2, 6), (7, 8), (8, 10), (10, 13), (14, 19), (19, 20), (20, 21), (22, 26))


def groups(positions: WordPositions) -> list[int]:
    return positions.groups.tolist()


def test_pieces_of_words_and_special_tokens():
    result = word_positions(tiny.tokenizer(12), "not films .", ((0, 3), (4, 9), (10, 11)))
    assert groups(result) == [-1, 0, 1, 1, 2, -1]  # [CLS] not film ##s . [SEP]
    assert result.words.tolist() == [0, 1, 2]
    assert result.reasons == (None, None, None)


def test_words_that_share_a_token_have_no_place_of_their_own():
    """ "films" as two words: "fil" and "ms" share the token "film", so that only "not" remains."""
    result = word_positions(tiny.tokenizer(12), "not films", ((0, 3), (4, 7), (7, 9)))
    assert groups(result) == [-1, 0, 1, 1, -1]
    assert result.words.tolist() == [0, -1, -1]
    assert result.reasons == (None, "joined", "joined")


@pytest.mark.parametrize(
    ("direction", "text", "reasons"),
    [
        ("right", "not film abc great", (None, None, "cut", "cut")),
        ("left", "great abc not film", ("cut", "cut", None, None)),
    ],
)
def test_words_beyond_the_length_are_cut(direction, text, reasons):
    """Of four tokens besides [CLS] and [SEP], where "abc" has three: a word of which a piece is missing counts as cut."""
    tokenizer = tiny.tokenizer(6)
    tokenizer.enable_truncation(6, direction=direction)
    words = tuple((text.index(word), text.index(word) + len(word)) for word in text.split())
    result = word_positions(tokenizer, text, words)
    assert result.reasons == reasons
    assert [word < 0 for word in result.words] == [reason == "cut" for reason in reasons]
    assert result.n_groups == 3  # what is left of "abc" can still be attended to


def test_a_word_without_a_token_is_dropped():
    tokenizer = tiny.tokenizer(12)
    tokenizer.normalizer = normalizers.Replace("☃", "")
    result = word_positions(tokenizer, "not ☃ film", ((0, 3), (4, 5), (6, 10)))
    assert groups(result) == [-1, 0, 1, -1]
    assert (result.words.tolist(), result.reasons) == ([0, -1, 1], (None, "dropped", None))


def byte_level() -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    made.train_from_iterator(["a great film", "a film is great"] * 9, trainer)
    return made


def sentence_piece() -> Tokenizer:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = UnigramTrainer(vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    made.train_from_iterator([QUOTED_TEXT, "a great film", "a film is great"] * 9, trainer)
    return made


@pytest.mark.parametrize("make", [lambda: tiny.tokenizer(64), byte_level, sentence_piece])
def test_every_kind_of_tokenizer_finds_the_characters_of_each_word(make):
    """Of each token of a group its characters lie in the group's words, and all groups together are all words."""
    tokenizer = make()
    encoding, result = tokenizer.encode(QUOTED_TEXT), word_positions(tokenizer, QUOTED_TEXT, WORDS)
    texts = ["" for _ in range(result.n_groups)]
    for (start, end), group in zip(encoding.offsets, groups(result), strict=True):
        if group >= 0 and not texts[group].endswith(QUOTED_TEXT[start:end].strip()):
            texts[group] += QUOTED_TEXT[start:end].strip()
    assert "".join(texts) == QUOTED_TEXT.replace(" ", "")
    for word, (start, end) in enumerate(WORDS):
        if result.words[word] >= 0:
            assert texts[result.words[word]] == QUOTED_TEXT[start:end]


def test_each_patch_is_a_word(digit_loaded, image):
    _, positions = prepare(digit_loaded, image)
    result = patch_positions(positions)
    assert groups(result) == [-1, 0, 1, 2, 3]
    assert result.words.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("row", "strongest"),
    [
        ([0.2, 0.3, 0.5], 2),
        ([0.2, 0.4, 0.4], -1),
        ([0.2, 0.4, np.nextafter(np.float32(0.4), np.float32(1))], -1),  # equal but for rounding
        ([1.0, 0.0, 0.0], -1),  # all of it on the word itself
    ],
)
def test_of_words_with_equal_weights_none_is_the_strongest(row, strongest):
    pattern = torch.full((1, 1, 3, 3), 1 / 3)
    pattern[0, 0, 0] = torch.tensor(row)
    words = WordPositions(groups=np.arange(3), words=np.arange(3), reasons=(None,) * 3)
    assert strongest_other_group(pattern, [words])[0, 0].tolist() == [strongest, -1, -1]


def test_the_strongest_other_word_by_a_loop():
    generator = np.random.default_rng(0)
    grouped = [np.array([-1, 0, 0, 1, 2, 2, 2, -1]), np.array([-1, 0, 1, 2, 3, 4, 4, -1])]
    pattern = generator.dirichlet(np.ones(8), (2, 3, 8)).astype(np.float32)
    examples = [
        WordPositions(groups=group, words=np.arange(group.max() + 1), reasons=(None,) * (group.max() + 1))
        for group in grouped
    ]
    result = strongest_other_group(torch.from_numpy(pattern), examples)
    assert result.shape == (2, 3, 5)
    for example, head in np.ndindex(2, 3):
        n = grouped[example].max() + 1
        for word in range(n):
            weights = {}
            for other in set(range(n)) - {word}:
                rows = np.flatnonzero(grouped[example] == word)
                columns = np.flatnonzero(grouped[example] == other)
                sums = [sum(float(pattern[example, head, row, column]) for column in columns) for row in rows]
                weights[other] = sum(sums) / len(sums)
            assert result[example, head, word] == max(weights, key=weights.__getitem__)
