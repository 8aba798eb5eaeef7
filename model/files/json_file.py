"""JSON files that somebody else may have written: read up to a size, converted to a type, and replaced as a whole."""

import json
from pathlib import Path
from typing import Any

from ..schema import convert_closed
from .content import read_bounded
from .errors import errors_in_one_sentence
from .writing import replacing

LARGEST_JSON = 40 * 2**20  # bytes; the tokenizer.json of SigLIP 2 has 34 million


def parse_json(content: bytes) -> Any:
    """The value that JSON in UTF-8 encodes. Raises ValueError for anything else, and for text with a lone surrogate."""
    try:
        values = json.loads(content.decode())
        json.dumps(
            values, ensure_ascii=False
        ).encode()  # an escaped lone surrogate is decoded, but cannot be written
    except RecursionError as error:
        raise ValueError("a value in it is nested too deeply") from error
    return values


def read_json(path: Path, name: str) -> Any:
    """The value in a JSON file.

    Raises ValueError, with a one-sentence message that begins with `name`, if the file cannot be read.
    """
    with errors_in_one_sentence(f"{name} cannot be read"):
        return parse_json(read_bounded(path, LARGEST_JSON))


def read_object(path: Path, name: str) -> dict[str, Any]:
    """The object in a JSON file.

    Raises ValueError, with a message that begins with `name`, if the file cannot be read or holds no object.
    """
    values = read_json(path, name)
    if not isinstance(values, dict):
        raise ValueError(f"{name} must hold a JSON object")
    return values


def read_as(path: Path, kind: Any) -> Any:
    """The content of a JSON file as an instance of the annotated type `kind`; None if there is no file.

    Raises ValueError, with a one-sentence message, if the file is damaged or its content does not fit the type.
    """
    if not path.exists():
        return None
    with errors_in_one_sentence(f"{folder_and_name(path)} cannot be read"):
        return convert_closed(parse_json(read_bounded(path, LARGEST_JSON)), kind)


def folder_and_name(path: Path) -> str:
    """Name of the file and of its folder, for messages, which must not show the rest of the path."""
    return f"{path.parent.name}/{path.name}"


def replace_text(path: Path, text: str) -> None:
    """Replaces the content of a text file. Raises OSError if it cannot be written; the old content is then kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
