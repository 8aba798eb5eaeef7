"""Provenance of a record: version, encoder, input and intervention, as plain values that are saved with the record."""

from typing import Any

from ..checkpoint import weights_hash
from ..inputs import InputLike, Text, as_input
from ..loaded import Loaded
from ..version import VERSION
from .intervention import Intervention

MAX_INTERVENTION_LENGTH = 2000  # characters


def settings(
    loaded: Loaded, model_input: InputLike, intervention: Intervention | None = None
) -> dict[str, Any]:
    """Provenance of a record as JSON values by name: version, checkpoint, SHA-256 of its weights, text, class names and intervention.

    Pictures are not among them, and the intervention is cut to `MAX_INTERVENTION_LENGTH` characters. Raises ValueError
    as `as_input` does.
    """
    model_input, intervention = as_input(model_input), intervention or Intervention()
    return {
        "version": VERSION,
        "checkpoint": loaded.name,
        "weights_sha256": None if loaded.folder is None else weights_hash(loaded.folder),
        "text": model_input.text if isinstance(model_input, Text) else None,
        "second_part": model_input.second if isinstance(model_input, Text) else None,
        "class_names": list(loaded.config.class_names),
        "intervention": "none"
        if intervention == Intervention()
        else repr(intervention)[:MAX_INTERVENTION_LENGTH],
    }
