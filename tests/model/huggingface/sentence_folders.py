"""Small folders of sentence-transformers, as its `save` writes them."""

import json
from pathlib import Path
from typing import Any

from tests.model.huggingface.folders import build

TYPES = "sentence_transformers.models."


def modules(folder: Path, *listed: tuple[str, str]) -> None:
    """Writes a list of modules, pairs of the kind and the folder."""
    values = [
        {"idx": index, "name": str(index), "type": TYPES + kind, "path": path}
        for index, (kind, path) in enumerate(listed)
    ]
    (folder / "modules.json").write_text(json.dumps(values))


def pooling(folder: Path, **modes: object) -> None:
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 24, **modes}))


def build_sentence_encoder(folder: Path, settings: dict[str, Any] | None = None) -> None:
    """Saves a BERT whose states' mean is the answer, with the `settings` of config_sentence_transformers.json."""
    build(folder, "BertModel")
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"))
    pooling(folder, pooling_mode="mean")
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings or {}))
