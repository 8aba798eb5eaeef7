"""Provenance of a record: version, encoder, input and intervention, as plain values that are saved with it."""

from typing import Any

from ..checkpoint import weights_hash
from ..inputs import InputLike, Text, as_input
from ..loaded import Loaded
from ..version import VERSION
from .intervention import Intervention

LONGEST = 2000  # characters that describe the intervention


def settings(loaded: Loaded, given: InputLike, changed: Intervention | None = None) -> dict[str, Any]:
    """Settings of a record by name: project version, checkpoint, hash of its weights, input, class names and intervention."""
    given, changed = as_input(given), changed or Intervention()
    return {
        "version": VERSION,
        "checkpoint": loaded.name,
        "weights_sha256": None if loaded.folder is None else weights_hash(loaded.folder),
        "text": given.text if isinstance(given, Text) else None,
        "second_part": given.second if isinstance(given, Text) else None,
        "class_names": list(loaded.config.class_names),
        "intervention": "none" if changed == Intervention() else repr(changed)[:LONGEST],
    }
