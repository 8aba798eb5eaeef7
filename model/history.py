"""What `history.json` must be like in the places that are read; whatever else it tells is welcome."""

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def _object(required: tuple[str, ...] = (), **properties: dict) -> dict:
    return {"type": "object", "required": list(required), "properties": properties}


def _list(items: dict) -> dict:
    return {"type": "array", "items": items}


# JSON may hold numbers that no float holds
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**53}
_NUMBER = {"type": "number", "minimum": -1e300, "maximum": 1e300}
_WORDS = {"type": "string"}
_FIGURES = {"n": _COUNT, "accuracy": _NUMBER, "loss": _NUMBER, "data": _WORDS}
_ROW = _object(("phase", "step"), phase=_COUNT, step=_COUNT) | {"additionalProperties": _NUMBER}
_RECIPE = {"published": {"type": ["string", "null"]}, "phases": _list(_object(("task",), task=_WORDS))}
_SCHEMA = Draft202012Validator(
    _object(
        figures=_object(tuple(_FIGURES), **_FIGURES),
        recipe=_object(**_RECIPE),
        probes=_list(_WORDS),
        log=_list(_ROW),
        evaluations=_list(_ROW),
    )
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
