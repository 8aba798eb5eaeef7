"""Folders of sentence-transformers, whose `modules.json` lists an encoder, the pooling of its states, and layers after it."""

from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from ..config import LARGEST, Pooling
from ..family_options import Act
from ..files.encoder_files import CONFIG, MODULES
from ..files.json_file import folder_and_name, read_json, read_object
from .tensor_map import Reading, Source
from .weights import Stored, stored_weights

DENSE_WEIGHT = "linear.weight"
# layers after pooling of the encoder itself
REPLACED = ("pooler", "pooler_norm", "attention_pooling", "classifier", "second_classifier")
POOLINGS: dict[str, Pooling] = {
    "pooling_mode_cls_token": "class",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
MODES: dict[str, Pooling] = {"cls": "class", "mean": "mean", "max": "max"}
ACTS: dict[str, Act] = {"Tanh": "tanh", "Identity": "none", "ReLU": "relu", "GELU": "gelu"}


class UnsupportedPoolingError(ValueError):
    """The states of a sentence's tokens are pooled in a way that is not supported."""


@dataclass(frozen=True, slots=True)
class SentenceModules:
    """The modules that `modules.json` lists: encoder, pooling, and a linear layer after it."""

    encoder: str  # folder of the encoder, "" for the folder itself
    pooling: Pooling | None
    dense: Stored | None  # the weights of a linear layer after pooling
    dense_act: Act
    left_out: tuple[str, ...]  # modules that are not used


def read_modules(folder: Path) -> SentenceModules | None:
    """The modules listed in a folder; None if sentence-transformers did not save it. Raises ValueError if it is damaged."""
    path = folder / MODULES
    if not path.is_file():
        return None
    encoder, left_out = "", []
    pooling: Pooling | None = None
    dense: Stored | None = None
    activation: Act = "none"
    for module in _read_module_list(path):
        module_type, name = str(module.get("type", "")).rpartition(".")[2], str(module.get("path", ""))
        if Path(name).is_absolute() or ".." in Path(name).parts or len(Path(name).parts) > 1:
            raise ValueError(f"{MODULES} names the folder {shortened(name)}, which is not inside this folder")
        if module_type == "Transformer":
            encoder = name
        elif module_type == "Pooling":
            pooling = _find_pooling(read_object(folder / name / CONFIG, CONFIG))
        elif module_type == "Dense" and dense is None:
            activation = _read_activation(folder / name / CONFIG)
            dense = _with_prefix(stored_weights(folder / name), name)
        elif module_type != "Normalize":  # which changes no cosine
            left_out.append(f"{name or module_type} ({module_type})")
    return SentenceModules(encoder, pooling, dense, activation, tuple(left_out))


def _with_prefix(stored: Stored, prefix: str) -> Stored:
    return stored.renamed(lambda name: f"{prefix}.{name}")


def _read_activation(path: Path) -> Act:
    name = str(read_object(path, CONFIG).get("activation_function", "")).rpartition(".")[2]
    if name not in ACTS:
        raise ValueError(
            f"{folder_and_name(path)} has activation_function {name!r}; supported are {', '.join(ACTS)}"
        )
    return ACTS[name]


def _read_module_list(path: Path) -> list[dict[str, Any]]:
    modules = read_json(path, MODULES)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise ValueError(f"{MODULES} must hold a list of modules")
    return modules


def _find_pooling(values: dict[str, Any]) -> Pooling:
    if isinstance(mode := values.get("pooling_mode"), str):
        names = [mode]
    else:
        names = [
            name for name, is_enabled in values.items() if "pooling_mode_" in name and is_enabled is True
        ]
    poolings = POOLINGS | MODES
    if len(names) != 1 or names[0] not in poolings:
        names_text = (
            ", ".join(poolings.get(name, name.removeprefix("pooling_mode_")) for name in names) or "nothing"
        )
        raise UnsupportedPoolingError(
            f"the pooling is {names_text}; supported are class token, mean and maximum, one at a time"
        )
    return poolings[names[0]]


def with_modules(reading: Reading, sentences: SentenceModules) -> Reading:
    """Copy of `reading` in which the pooling of `sentences`, and its linear layer if any, replace the pooler and the
    classifier.
    """
    sources = {
        name: source for name, source in reading.sources.items() if name.partition(".")[0] not in REPLACED
    }
    zero_filled_names = tuple(name for name in reading.zeros if name.partition(".")[0] not in REPLACED)
    family = replace(
        reading.config.family,
        pooler=None,
        hidden_norm=False,
        pools_last=False,
        pools_token=None,
        attention_pooling=False,
        d_pooled=None,
        answers="choice",
    )
    if sentences.dense is not None:
        shapes = sentences.dense.shapes
        weight = next((name for name in shapes if name.endswith(DENSE_WEIGHT)), None)
        if weight is None:
            raise ValueError(f"{DENSE_WEIGHT} is missing from the weights of the layer after pooling")
        if len(shape := shapes[weight]) != 2 or not 1 <= shape[0] <= LARGEST:
            raise ValueError(f"{weight} has shape {shape}, which is not that of a linear layer after pooling")
        sources["pooler.weight"] = Source(weight)
        bias = weight.removesuffix("weight") + "bias"
        if bias in shapes:
            sources["pooler.bias"] = Source(bias)
        else:
            zero_filled_names += ("pooler.bias",)
        family = replace(family, pooler=sentences.dense_act, d_pooled=shape[0])
    pooling = sentences.pooling or reading.config.pooling
    config = replace(reading.config, pooling=pooling, class_names=(), family=family)
    return replace(reading, config=config, sources=sources, zeros=zero_filled_names)
