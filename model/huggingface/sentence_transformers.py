"""Folders of sentence-transformers: `modules.json` names an encoder, how its states are pooled, and what follows."""

from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as shortened

from ..config import LARGEST
from ..files.encoder_files import CONFIG, MODULES
from ..files.json_file import read_json, read_object
from .tensor_map import Reading, Source
from .weights import Stored, stored

DENSE_WEIGHT = "linear.weight"
POOLINGS = {
    "pooling_mode_cls_token": "class",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
MODES = {"cls": "class", "mean": "mean", "max": "max"}
ACTS = {"Tanh": "tanh", "Identity": "none", "ReLU": "relu", "GELU": "gelu"}


@dataclass(frozen=True, slots=True)
class Sentences:
    """What stands in `modules.json`."""

    encoder: str  # folder of the encoder, "" for the folder itself
    pooling: str | None  # as `ModelConfig.pooling`
    dense: Stored | None  # the weights of a linear layer after pooling
    dense_act: str
    left_out: tuple[str, ...]


def read_modules(folder: Path) -> Sentences | None:
    """None where the folder is none of sentence-transformers. Raises ValueError where it is damaged."""
    path = folder / MODULES
    if not path.is_file():
        return None
    listed = _list(path)
    encoder, pooling, dense, act, left_out = "", None, None, "none", []
    for module in listed:
        kind, at = str(module.get("type", "")).rpartition(".")[2], str(module.get("path", ""))
        if Path(at).is_absolute() or ".." in Path(at).parts or len(Path(at).parts) > 1:
            raise ValueError(f"{MODULES} names the folder {shortened(at)}, which is not inside this folder")
        if kind == "Transformer":
            encoder = at
        elif kind == "Pooling":
            pooling = _pooling(read_object(folder / at / CONFIG, CONFIG))
        elif kind == "Dense" and dense is None:
            act = str(read_object(folder / at / CONFIG, CONFIG).get("activation_function", "")).rpartition(
                "."
            )[2]
            if act not in ACTS:
                raise ValueError(
                    f"{at}/config.json has activation_function {act!r}; supported are {', '.join(ACTS)}"
                )
            dense = stored(folder / at)
            dense = dense.renamed(lambda name, at=at: f"{at}.{name}")
        elif kind != "Normalize":  # which changes no cosine
            left_out.append(f"{at or kind} ({kind})")
    return Sentences(encoder, pooling, dense, ACTS.get(act, "none"), tuple(left_out))


def _list(path: Path) -> list[dict]:
    listed = read_json(path, MODULES)
    if not isinstance(listed, list) or not all(isinstance(module, dict) for module in listed):
        raise ValueError(f"{MODULES} must hold a list of modules")
    return listed


def _pooling(values: dict) -> str:
    if isinstance(mode := values.get("pooling_mode"), str):
        modes = [MODES.get(mode, mode)]
    else:
        modes = [
            POOLINGS.get(name, name) for name, on in values.items() if "pooling_mode_" in name and on is True
        ]
    if len(modes) != 1 or modes[0] not in POOLINGS.values():
        said = ", ".join(modes) or "nothing"
        raise ValueError(f"the pooling is {said}; supported are class token, mean and maximum, one at a time")
    return modes[0]


def with_sentences(reading: Reading, sentences: Sentences) -> Reading:
    """The encoder's own pooler and classifier are replaced by the pooling, and a linear layer after it."""
    config, family = reading.config, reading.config.family
    sources = {
        name: source
        for name, source in reading.sources.items()
        if name.partition(".")[0] not in ("pooler", "classifier", "second_classifier")
    }
    changed = {"pooler": None, "d_pooled": None, "answers": "choice"}
    if sentences.dense is not None:
        weight = next((name for name in sentences.dense.shapes if name.endswith(DENSE_WEIGHT)), None)
        if weight is None:
            raise ValueError(f"{DENSE_WEIGHT} is missing from the weights of the layer after pooling")
        if len(shape := sentences.dense.shapes[weight]) != 2 or not 1 <= shape[0] <= LARGEST:
            raise ValueError(f"{weight} has shape {shape}, which is not that of a linear layer after pooling")
        sources["pooler.weight"] = Source(weight)
        bias = weight.removesuffix("weight") + "bias"
        if bias in sentences.dense.shapes:
            sources["pooler.bias"] = Source(bias)
            zeros = reading.zeros
        else:
            zeros = (*reading.zeros, "pooler.bias")
        changed |= {"pooler": sentences.dense_act, "d_pooled": shape[0]}
    else:
        zeros = reading.zeros
    config = replace(
        config,
        pooling=sentences.pooling or config.pooling,
        class_names=(),
        family=replace(family, **changed),
    )
    return replace(reading, config=config, sources=sources, zeros=zeros)
