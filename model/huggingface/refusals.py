"""Folders whose numbers would be those of another encoder if they were read: each is refused with what it holds, and the way out."""

from collections.abc import Collection, Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..files.encoder_files import ADAPTER, CONFIG
from ..files.errors import RefusalError, single_line

MERGE = "merge them first, model.merge_and_unload().save_pretrained(FOLDER)"
ADAPTER_ALONE = f"this folder holds an adapter (LoRA) without its encoder: {MERGE}"
ADAPTER_BESIDE = f"this folder holds an adapter beside its encoder ({ADAPTER}), with which transformers would change the weights: {MERGE}"
FROM_ARRAYS = (
    'Its attention can still be shown, as a record: loupe.save_record(loupe.from_arrays(weights, tokens), "record.npz", {}) '
    "writes a file that opens as the input “Record”"
)
# In names of tensors, by what stores them: PEFT's methods that are not merged, and the adapters of AdapterHub.
ADAPTER_TENSORS = (
    *("lora_A.", "lora_B.", "lora_embedding_A", "lora_embedding_B", "lora_magnitude_vector", ".base_layer."),
    *("ia3_l", "hada_w1_a", "lokr_w1", "oft_r", "boft_R", "vera_lambda", "prompt_embeddings", ".adapters."),
    *(".loras.", "prefix_tuning"),
)
RELATIVE_KEYS = "distance_embedding.weight"


def is_own_config(values: Mapping[str, Any]) -> bool:
    """Whether a config.json, damaged or not, is one of this project rather than of another library."""
    if not values:
        return True
    is_of_transformers = "model_type" in values or "architectures" in values
    return not is_of_transformers and not set(ModelConfig.__dataclass_fields__).isdisjoint(values)


def refuse_adapter(folder: Path) -> None:
    """Raises RefusalError if an adapter lies in the folder, with or without its encoder."""
    if (folder / ADAPTER).is_file():
        raise RefusalError(ADAPTER_BESIDE if (folder / CONFIG).is_file() else ADAPTER_ALONE)


def refuse_other_library(values: Mapping[str, Any]) -> None:
    """Raises RefusalError for a config.json that another library wrote, which names no `model_type` or wraps a model of timm."""
    architecture = values.get("architecture")
    if isinstance(architecture, str) and (
        values.get("model_type") == "timm_wrapper" or "pretrained_cfg" in values or "num_features" in values
    ):
        raise RefusalError(
            f"this is a folder of timm ({single_line(shortened(architecture), 80)}), whose tensors have other names than those of "
            f"transformers, which alone are read. {FROM_ARRAYS}"
        )


def refuse_tensors(names: Collection[str]) -> None:
    """Raises RefusalError if the weights hold an adapter that is not merged, or relative positions that are not computed."""
    for name in names:
        if any(part in name for part in ADAPTER_TENSORS):
            raise RefusalError(
                f"the weights hold an adapter that is not merged with its encoder ({single_line(name, 120)}): {MERGE}"
            )
        if name.endswith(RELATIVE_KEYS):
            raise RefusalError(
                f"the weights hold vectors of relative positions ({single_line(name, 120)}), with which the scores of this encoder "
                "were computed when it was trained; only absolute ones are read, and transformers drops them as well since version 5"
            )


def wrong_shape(values: Mapping[str, Any], sentence: str) -> RefusalError | ValueError:
    """The error for a tensor of another shape than config.json asks for, with heads that were pruned as its reason."""
    pruned = values.get("pruned_heads")
    if not isinstance(pruned, Mapping) or not any(pruned.values()):
        return ValueError(sentence)
    layers = ", ".join(sorted(map(str, pruned)))
    return RefusalError(
        f"heads of this encoder are pruned (pruned_heads in config.json, layers {single_line(layers, 60)}), and only encoders with "
        f"equally many heads in each layer are read: {sentence}"
    )
