"""`FAMILIES`: which encoders can be opened, by the `model_type` in their config.json. Refusals, pages and docs list them from here.

After a change run `python -m tests.model.huggingface.test_families`, which writes the list into the docs.

Folders that would open with wrong results, such as adapters that are not merged, are refused with the reason and the remedy.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Literal

from ..config import ModelConfig
from ..files.encoder_files import ADAPTER, CONFIG
from ..files.errors import RefusalError, single_line
from .bert import (
    read_albert,
    read_bert,
    read_distilbert,
    read_electra,
    read_gte,
    read_jina,
    read_nomic,
    read_roberta,
)
from .clip import read_clip_pictures, read_clip_texts
from .inner_encoders import TWO_ENCODERS
from .modernbert import read_esm, read_eurobert, read_modernbert
from .relative_families import read_deberta, read_mpnet, read_t5
from .tensor_map import Reading
from .torch_encoder import MODEL_TYPE, read_torch_encoder
from .vit import read_beit, read_dinov2, read_dinov3, read_vit

InputKind = Literal["text", "pictures", "proteins"]
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


@dataclass(frozen=True, slots=True)
class KnownFamily:
    """A family of encoders that can be opened: its name, and the function that reads its configuration.

    The function is called with the values of config.json and the stored tensors, and if it reads pictures with the content of
    preprocessor_config.json, or None, as well.
    """

    name: str  # as its authors write it; the same name may stand at several model types
    read: Callable[..., Reading]
    input_kind: InputKind = "text"


FAMILIES: dict[str, KnownFamily] = {
    "bert": KnownFamily("BERT", read_bert),
    "ernie": KnownFamily("ERNIE", read_bert),
    "megatron-bert": KnownFamily("Megatron-BERT", read_bert),
    "distilbert": KnownFamily("DistilBERT", read_distilbert),
    "electra": KnownFamily("ELECTRA", read_electra),
    "albert": KnownFamily("ALBERT", read_albert),
    "roberta": KnownFamily("RoBERTa", read_roberta),
    "roberta-prelayernorm": KnownFamily("RoBERTa-PreLayerNorm", read_roberta),
    "xlm-roberta": KnownFamily("XLM-RoBERTa", read_roberta),
    "camembert": KnownFamily("CamemBERT", read_roberta),
    "data2vec-text": KnownFamily("data2vec-text", read_roberta),
    "mpnet": KnownFamily("MPNet", read_mpnet),
    "modernbert": KnownFamily("ModernBERT", read_modernbert),
    "nomic_bert": KnownFamily("NomicBERT", read_nomic),
    "eurobert": KnownFamily("EuroBERT", read_eurobert),
    "gte": KnownFamily("GTE", read_gte),
    "new": KnownFamily("GTE", read_gte),  # as its authors name it
    "jina_embeddings_v3": KnownFamily("Jina v3", read_jina),
    "deberta-v2": KnownFamily("DeBERTa v2 and v3", read_deberta),
    "t5": KnownFamily("T5", read_t5),
    "mt5": KnownFamily("mT5", read_t5),
    "umt5": KnownFamily("UMT5", read_t5),
    "esm": KnownFamily("ESM-2, ESM-1b", read_esm, "proteins"),
    "vit": KnownFamily("ViT", read_vit, "pictures"),
    "deit": KnownFamily("DeiT", read_vit, "pictures"),
    "vit_mae": KnownFamily("ViT-MAE", read_vit, "pictures"),
    "ijepa": KnownFamily("I-JEPA", read_vit, "pictures"),
    "dinov2": KnownFamily("DINOv2", read_dinov2, "pictures"),
    "dinov2_with_registers": KnownFamily("DINOv2 with registers", read_dinov2, "pictures"),
    "dinov3_vit": KnownFamily("DINOv3", read_dinov3, "pictures"),
    "beit": KnownFamily("BEiT", read_beit, "pictures"),
    "data2vec-vision": KnownFamily("data2vec-vision", read_beit, "pictures"),
    "clip_vision_model": KnownFamily("CLIP vision", read_clip_pictures, "pictures"),
    "siglip_vision_model": KnownFamily("SigLIP vision", read_clip_pictures, "pictures"),
    "clip_text_model": KnownFamily("CLIP text", read_clip_texts),
    "siglip_text_model": KnownFamily("SigLIP text", read_clip_texts),
    MODEL_TYPE: KnownFamily(MODEL_TYPE, read_torch_encoder),
}


def family_names() -> str:
    """The names of all families, in the order of the table: "BERT, ERNIE, …"."""
    names = (*(family.name for family in FAMILIES.values()), *TWO_ENCODERS.values())
    return ", ".join(dict.fromkeys(names))


def families_table() -> str:
    """All families as a table in Markdown; families that are read by the same function share a row."""
    groups: dict[tuple[Callable[..., Reading], str], list[str]] = {}
    for model_type, family in FAMILIES.items():
        groups.setdefault((family.read, family.input_kind), []).append(model_type)
    rows = ["| family | `model_type` in `config.json` | reads |", "|---|---|---|"]
    for (_, input_kind), model_types in groups.items():
        names = ", ".join(dict.fromkeys(FAMILIES[model_type].name for model_type in model_types))
        rows.append(_markdown_row(names, model_types, input_kind))
    rows.append(
        _markdown_row(", ".join(TWO_ENCODERS.values()), TWO_ENCODERS, "pictures and texts: two encoders")
    )
    return "\n".join(rows)


def _markdown_row(names: str, model_types: Iterable[str], input_kind: str) -> str:
    """Row of the Markdown table of families that can be opened."""
    return f"| {names} | {', '.join(f'`{model_type}`' for model_type in model_types)} | {input_kind} |"


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
    """Raises RefusalError for a config.json of timm (PyTorch Image Models), or of `transformers` around a model of timm."""
    architecture = values.get("architecture")
    if isinstance(architecture, str) and (
        values.get("model_type") == "timm_wrapper" or "pretrained_cfg" in values or "num_features" in values
    ):
        raise RefusalError(
            f"this is a folder of timm ({single_line(shortened(architecture), 80)}), whose tensors have other names than those of "
            f"transformers, which alone are read. {FROM_ARRAYS}"
        )


def refuse_unsupported_tensors(names: Collection[str]) -> None:
    """Raises RefusalError if tensors with these names belong to an unmerged adapter or to unsupported relative positions."""
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
    """The error to raise for a tensor whose shape does not fit config.json: `sentence`, or pruned heads if config.json names any."""
    pruned = values.get("pruned_heads")
    if not isinstance(pruned, Mapping) or not any(pruned.values()):
        return ValueError(sentence)
    layers = ", ".join(sorted(map(str, pruned)))
    return RefusalError(
        f"heads of this encoder are pruned (pruned_heads in config.json, layers {single_line(layers, 60)}), and only encoders with "
        f"equally many heads in each layer are read: {sentence}"
    )
