from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from model.files import json_schema

SCHEMA = Draft202012Validator(json_schema.list_of(json_schema.COUNT))


def test_what_is_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "numbers.json"
    assert json_schema.read(path, SCHEMA, sum) is None
    for text, total in (("[1, 2]", 3), ("[4]", 4)):
        json_schema.replace(path, text)
        assert json_schema.read(path, SCHEMA, sum) == total
    assert [each.name for each in path.parent.iterdir()] == ["numbers.json"]


@pytest.mark.parametrize("text", ["", "[", "[-1]", '{"a": 1}', "[" * 100_000])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "numbers.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{tmp_path.name}/numbers.json cannot be read: ") as refused:
        json_schema.read(path, SCHEMA, sum)
    assert "\n" not in str(refused.value)
