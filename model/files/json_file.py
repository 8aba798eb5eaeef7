"""JSON files that somebody else may have written: read up to a size, made into a type, and replaced whole."""

import json
from pathlib import Path
from typing import Any

from ..schema import convert_closed
from .content import content_of
from .errors import one_sentence
from .writing import replacing

LARGEST_JSON = 2**25  # bytes


def parse_json(content: bytes) -> Any:
    """Values of JSON in UTF-8. Raises ValueError where it is none, or where a text holds a lone surrogate."""
    try:
        values = json.loads(content.decode())
        json.dumps(
            values, ensure_ascii=False
        ).encode()  # an escaped lone surrogate is decoded, but cannot be written
    except RecursionError as error:
        raise ValueError("a value in it is nested too deeply") from error
    return values


def read_json(path: Path, name: str) -> Any:
    """Values of a JSON file. Raises ValueError, in one sentence that begins with `name`, where it cannot be read."""
    with one_sentence(f"{name} cannot be read"):
        return parse_json(content_of(path, LARGEST_JSON))


def read_object(path: Path, name: str) -> dict[str, Any]:
    """As `read_json`. Raises ValueError also where the file holds no JSON object."""
    values = read_json(path, name)
    if not isinstance(values, dict):
        raise ValueError(f"{name} must hold a JSON object")
    return values


def read_as(path: Path, kind: Any) -> Any:
    """The content of a JSON file as an instance of the annotated type `kind`; None where there is no file.

    Raises ValueError, in one sentence, where the file is damaged or its content does not fit the type.
    """
    if not path.exists():
        return None
    with one_sentence(f"{folder_and_name(path)} cannot be read"):
        return convert_closed(parse_json(content_of(path, LARGEST_JSON)), kind)


def folder_and_name(path: Path) -> str:
    """The end of a path, by which a message names a file: never more of where the files of this machine lie."""
    return f"{path.parent.name}/{path.name}"


def replace_text(path: Path, text: str) -> None:
    """Writes a text file whole. Raises OSError where it cannot be written; what was there before then stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
