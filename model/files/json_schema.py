"""JSON files: whether what they hold is what it must be, in the places that are read, and how they are replaced."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from .content import content_of
from .errors import why
from .writing import replacing

Made = TypeVar("Made")

LARGEST = 2**25  # bytes
# JSON may hold numbers that no float holds
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**53}
NUMBER = {"type": "number", "minimum": -1e300, "maximum": 1e300}
MAYBE = {**NUMBER, "type": ["number", "null"]}
WORDS = {"type": "string"}


def object_of(required: Iterable[str] = (), **properties: dict) -> dict:
    """The schema of an object that may hold more than its `properties`."""
    return {"type": "object", "required": list(required), "properties": properties}


def list_of(items: dict) -> dict:
    return {"type": "array", "items": items}


def check(found: object, schema: Draft202012Validator) -> None:
    """Raises ValueError, in one sentence that says where, for the first thing that is not as the schema has it."""
    if error := best_match(schema.iter_errors(found)):
        where = " ".join(map(str, error.absolute_path)) or "the whole"
        raise ValueError(f"{where}: {error.message[:200]}")


def read(path: Path, schema: Draft202012Validator, made: Callable[..., Made]) -> Made | None:
    """What is `made` of the file's content; None where there is no file.

    Raises ValueError, in one sentence, where the file is damaged or `made` refuses what it holds.
    """
    try:
        found = json.loads(content_of(path, LARGEST).decode())
        check(found, schema)
        return made(found)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path.parent.name}/{path.name} cannot be read: {why(error)}") from error


def replace(path: Path, text: str) -> None:
    """Raises OSError where it cannot be written; what was there before then stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")
