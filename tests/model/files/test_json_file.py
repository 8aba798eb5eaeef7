from pathlib import Path

import pytest

from model.files.json_file import read_as, replace_text
from model.schema import Count


def test_what_is_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "numbers.json"
    assert read_as(path, list[Count]) is None
    for text, numbers in (("[1, 2]", [1, 2]), ("[4]", [4])):
        replace_text(path, text)
        assert read_as(path, list[Count]) == numbers
    assert [entry.name for entry in path.parent.iterdir()] == ["numbers.json"]


@pytest.mark.parametrize("text", ["", "[", "[-1]", '{"a": 1}', "[" * 100_000, '["\\ud800"]', "[1.5]"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "numbers.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{tmp_path.name}/numbers.json cannot be read: ") as refused:
        read_as(path, list[Count])
    assert "\n" not in str(refused.value)
