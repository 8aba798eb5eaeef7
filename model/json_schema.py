"""Whether what a JSON file holds is what it must be, in the places that are read."""

from collections.abc import Iterable

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

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
