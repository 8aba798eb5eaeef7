"""What `history.json` must be like in the places that are read; whatever else it tells is welcome."""

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

# JSON may hold numbers that no float holds
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**53}
_NUMBER = {"type": "number", "minimum": -1e300, "maximum": 1e300}
_WORDS = {"type": "string"}
_ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["phase", "step"],
        "properties": {"phase": _COUNT, "step": _COUNT},
        "additionalProperties": _NUMBER,
    },
}
_SCHEMA = Draft202012Validator(
    {
        "type": "object",
        "properties": {
            "figures": {
                "type": "object",
                "required": ["n", "accuracy", "loss", "data"],
                "properties": {"n": _COUNT, "accuracy": _NUMBER, "loss": _NUMBER, "data": _WORDS},
            },
            "recipe": {
                "type": "object",
                "properties": {
                    "published": {"type": ["string", "null"]},
                    "phases": {
                        "type": "array",
                        "items": {"type": "object", "required": ["task"], "properties": {"task": _WORDS}},
                    },
                },
            },
            "probes": {"type": "array", "items": _WORDS},
            "log": _ROWS,
            "evaluations": _ROWS,
        },
    }
)


def check_history(history: dict) -> None:
    """Raises ValueError, in one sentence, where a figure, a phase or a logged step is not what it must be."""
    if error := best_match(_SCHEMA.iter_errors(history)):
        where = " ".join(map(str, error.absolute_path)) or "the whole"
        raise ValueError(f"{where}: {error.message[:200]}")
    n_phases = len(history.get("recipe", {}).get("phases", []))
    for name in ("log", "evaluations"):
        if any(row["phase"] >= n_phases for row in history.get(name, [])):
            raise ValueError(f"{name} tells of more than the {n_phases} phases of the recipe")
