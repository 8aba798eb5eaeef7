import tracemalloc
from pathlib import Path

import pytest

from model import digits
from model.atlas import examples as module
from model.atlas.examples import examples_for
from model.inputs import Picture, Text


@pytest.fixture
def csv(tmp_path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text("label,text\n" + "".join(f'1,"film {letter}, great"\n' for letter in "abcdefg"))
    return path


def test_examples_lie_at_equal_distances(text_loaded, csv, monkeypatch):
    monkeypatch.setattr(module, "WINDOW", 3)
    texts = examples_for(text_loaded, csv, 3)
    chosen = [(1, Text("film a, great")), (3, Text("film c, great")), (5, Text("film e, great"))]
    assert list(texts) == chosen
    assert list(texts) == chosen  # a second time
    assert [number for number, _ in examples_for(text_loaded, csv, 100)] == list(range(1, 8))


def test_digits_are_those_of_the_project(digit_loaded):
    found = list(examples_for(digit_loaded, None, 4))
    assert [number for number, _ in found] == [1, 2501, 5001, 7501]
    assert found[1][1] == Picture.of(digits.examples()[0][2500])


def test_data_have_a_name_and_a_hash(text_loaded, digit_loaded, csv):
    assert examples_for(text_loaded, csv, 4).name == "texts.csv"
    assert examples_for(text_loaded, csv, 4, "films").name == "films"
    assert examples_for(digit_loaded, None, 4).name == "MNIST test digits"
    before = examples_for(text_loaded, csv, 4).sha256
    csv.write_text(csv.read_text() + "1,more\n")
    assert len({before, examples_for(text_loaded, csv, 4).sha256}) == 2


def test_data_that_do_not_fit_are_refused(text_loaded, digit_loaded, csv, tmp_path):
    with pytest.raises(ValueError, match="name a CSV with the column text"):
        examples_for(text_loaded, None, 4)
    with pytest.raises(ValueError, match="reads digits, which a CSV does not hold"):
        examples_for(digit_loaded, csv, 4)
    with pytest.raises(ValueError, match="two examples at least, got a limit of 1"):
        examples_for(text_loaded, csv, 1)
    other = tmp_path / "other.csv"
    other.write_text("review\ngreat\n")
    with pytest.raises(ValueError, match=r"other\.csv lacks the column text"):
        examples_for(text_loaded, other, 4)


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
