import tracemalloc
from pathlib import Path

import pytest

from model.atlas.dataset_examples import examples_for, examples_to_show, labelled_examples
from model.inputs import Picture, Text, digits


@pytest.fixture
def csv(tmp_path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text("label,text\n" + "".join(f'1,"film {letter}, great"\n' for letter in "abcdefg"))
    return path


def test_examples_lie_at_equal_distances(text_loaded, csv):
    texts = examples_for(text_loaded, csv, 3)
    chosen = [(1, Text("film a, great")), (3, Text("film c, great")), (5, Text("film e, great"))]
    assert list(texts) == chosen
    assert list(texts) == chosen  # a second time
    assert [number for number, _ in examples_for(text_loaded, csv, 100)] == list(range(1, 8))
    assert [number for number, _ in examples_for(text_loaded, csv)] == list(range(1, 8))


@pytest.mark.parametrize("limit", range(2, 9))
def test_equal_distances_are_the_places_i_n_over_limit(text_loaded, csv, limit):
    texts = examples_for(text_loaded, csv, limit)
    positions = sorted({index * 7 // limit for index in range(limit)}) if limit < 7 else list(range(7))
    assert [number - 1 for number, _ in texts] == positions
    assert len(texts) == len(positions)


def test_shards_are_all_of_them_from_any_on(text_loaded, csv):
    texts = examples_for(text_loaded, csv, 5)
    shards = list(texts.shards(2))
    assert [(shard.number, len(shard)) for shard in shards] == [(0, 2), (1, 2), (2, 1)]
    assert [number for shard in shards for number in shard.numbers] == [number for number, _ in texts]
    for first in range(4):
        assert list(texts.shards(2, first)) == shards[first:]
    assert len(list(examples_for(text_loaded, csv, 4).shards(2))) == 2


def test_what_may_be_shown_comes_with_the_project(text_loaded, digit_loaded):
    assert examples_to_show(digit_loaded).name == "MNIST test digits"
    own = examples_to_show(text_loaded)
    texts = [model_input.text for _, model_input in own]
    assert len(own) == len(texts) == len(set(texts))
    assert "The film is not bad at all." in texts
    assert len(own.sha256) == 64


def test_labels_are_classes(text_loaded, digit_loaded, csv, tmp_path):
    result = labelled_examples(text_loaded, examples_for(text_loaded, csv))
    assert [label for *_, label in result] == [1] * 7
    assert [example[:2] for example in result] == list(examples_for(text_loaded, csv))
    labels = digits.examples()[1]
    of_digits = [label for *_, label in labelled_examples(digit_loaded, examples_for(digit_loaded, None, 4))]
    assert of_digits == [int(labels[index]) for index in (0, 2500, 5000, 7500)]
    bad = tmp_path / "bad.csv"
    bad.write_text("text,label\na,positive\nb,2\n")
    with pytest.raises(ValueError, match="example 2: a label must be one of"):
        labelled_examples(text_loaded, examples_for(text_loaded, bad))
    bad.write_text("text\na\nb\n")
    with pytest.raises(ValueError, match=r"bad\.csv lacks the column label"):
        labelled_examples(text_loaded, examples_for(text_loaded, bad))


def test_digits_are_those_of_the_project(digit_loaded):
    result = list(examples_for(digit_loaded, None, 4))
    assert [number for number, _ in result] == [1, 2501, 5001, 7501]
    assert result[1][1] == Picture.of(digits.examples()[0][2500])


def test_data_have_a_name_and_a_hash(text_loaded, digit_loaded, csv):
    assert examples_for(text_loaded, csv, 4).name == "texts.csv"
    assert examples_for(text_loaded, csv, 4, "films").name == "films"
    assert examples_for(digit_loaded, None, 4).name == "MNIST test digits"
    before = examples_for(text_loaded, csv, 4).sha256
    csv.write_text(csv.read_text() + "1,more\n")
    assert len({before, examples_for(text_loaded, csv, 4).sha256}) == 2


def test_data_that_do_not_fit_are_refused(text_loaded, digit_loaded, csv):
    with pytest.raises(ValueError, match="name a CSV with the column text"):
        examples_for(text_loaded, None, 4)
    with pytest.raises(ValueError, match="reads digits, which a CSV does not hold"):
        examples_for(digit_loaded, csv, 4)
    with pytest.raises(ValueError, match="two examples at least, got a limit of 1"):
        examples_for(text_loaded, csv, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"review\ngreat\n", "lacks the column text"),
        (b"", "lacks the column text"),
        (b"\x00\xff\xfe\x9c,\x00\n", "other.csv cannot be read: it is not written in UTF-8"),
        (b"text\na\nb\xff\n", "other.csv cannot be read: it is not written in UTF-8"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "lacks the column text"),
        (
            b"text\na\nb,c\n",
            "line 3 has more or fewer cells than its first; a text that contains “,” stands in quotation marks",
        ),
        (b"text\na,b\nc,d\n", "line 2 has more or fewer cells"),
        (b"label,text\n1,a\n0\n", "line 3 has more or fewer cells"),
        (b'text\n"a\n', "other.csv cannot be read as a table: a quotation mark is opened"),
        (b"text,label\n", "two examples at least, other.csv holds 0"),
        (b"text\none\n", "two examples at least, other.csv holds 1"),
    ],
)
def test_what_is_no_table_of_texts_is_refused_in_one_sentence(text_loaded, tmp_path, content, message):
    other = tmp_path / "other.csv"
    other.write_bytes(content)
    with pytest.raises(ValueError, match=f"^.*{message}") as refused:
        examples_for(text_loaded, other)
    assert "\n" not in str(refused.value)


def test_a_long_text_is_read(text_loaded, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("text\n" + "great film " * 9_091 + '\n"film\nfilm"\n')
    first, second = (model_input.text for _, model_input in examples_for(text_loaded, path))
    assert len(first) > 100_000
    assert second == "film\nfilm"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_examples(text_loaded, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("text\n" + "great film\n" * 20_000)
    texts = examples_for(text_loaded, path, 20_000)
    list(examples_for(text_loaded, path, 2))  # what pandas keeps of itself
    tracemalloc.start()
    try:
        assert sum(1 for _ in texts) == 20_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000 * 50  # a string alone takes 59 bytes
