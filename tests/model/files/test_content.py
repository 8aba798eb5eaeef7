import os

import pytest

from model.files.content import check_regular, read_as, read_bounded, replace_text
from model.schema import Count


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path):
    path = tmp_path / "it"
    path.write_bytes(b"x" * 2**20)
    assert read_bounded(path, 2**20) == b"x" * 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(ValueError, match=r"^it is larger than 1 MB$"):
        read_bounded(path, 2**20)


def test_what_is_not_there_is_told_from_what_is_not_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ValueError, match=r"^it is not a file$"):
            check_regular(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="nothing"):
        check_regular(tmp_path / "nothing")


def test_what_is_replaced_is_read_again(tmp_path):
    path = tmp_path / "folder" / "numbers.json"
    assert read_as(path, list[Count]) is None
    for text, numbers in (("[1, 2]", [1, 2]), ("[4]", [4])):
        replace_text(path, text)
        assert read_as(path, list[Count]) == numbers
    assert [entry.name for entry in path.parent.iterdir()] == ["numbers.json"]


@pytest.mark.parametrize("text", ["", "[", "[-1]", '{"a": 1}', "[" * 100_000, '["\\ud800"]', "[1.5]"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "numbers.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{tmp_path.name}/numbers.json cannot be read: ") as refused:
        read_as(path, list[Count])
    assert "\n" not in str(refused.value)
