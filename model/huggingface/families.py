"""`FAMILIES`: which encoders can be opened, by the `model_type` in their config.json. Refusals, pages and docs list them from here.

After a change run `python -m tests.model.huggingface.test_families`, which writes the list into the docs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import (
    albert,
    beit,
    bert,
    clip,
    deberta,
    dinov2,
    dinov3,
    distilbert,
    electra,
    esm,
    eurobert,
    gte,
    jina,
    modernbert,
    mpnet,
    nomic_bert,
    roberta,
    t5,
    torch_encoder,
    vit,
)
from .inner_encoders import TWO_ENCODERS
from .tensor_map import Reading
from .weights import Stored

InputKind = Literal["text", "pictures", "proteins"]


@dataclass(frozen=True, slots=True)
class KnownFamily:
    """A family of encoders that can be opened: its name, and the function that reads its configuration.

    The functions of families that read pictures also take the content of preprocessor_config.json, or None.
    """

    name: str  # as its authors write it; the same name may stand at several model types
    read: Callable[..., Reading]
    reads: InputKind = "text"

    def reading(
        self, values: Mapping[str, Any], stored: Stored, preprocessor: Mapping[str, Any] | None
    ) -> Reading:
        """Configuration and tensor map of an encoder of this family. Raises ValueError if it cannot be read."""
        return (
            self.read(values, stored, preprocessor) if self.reads == "pictures" else self.read(values, stored)
        )


FAMILIES: dict[str, KnownFamily] = {
    "bert": KnownFamily("BERT", bert.read),
    "ernie": KnownFamily("ERNIE", bert.read),
    "megatron-bert": KnownFamily("Megatron-BERT", bert.read),
    "distilbert": KnownFamily("DistilBERT", distilbert.read),
    "electra": KnownFamily("ELECTRA", electra.read),
    "albert": KnownFamily("ALBERT", albert.read),
    "roberta": KnownFamily("RoBERTa", roberta.read),
    "roberta-prelayernorm": KnownFamily("RoBERTa-PreLayerNorm", roberta.read),
    "xlm-roberta": KnownFamily("XLM-RoBERTa", roberta.read),
    "camembert": KnownFamily("CamemBERT", roberta.read),
    "data2vec-text": KnownFamily("data2vec-text", roberta.read),
    "mpnet": KnownFamily("MPNet", mpnet.read),
    "modernbert": KnownFamily("ModernBERT", modernbert.read),
    "nomic_bert": KnownFamily("NomicBERT", nomic_bert.read),
    "eurobert": KnownFamily("EuroBERT", eurobert.read),
    "gte": KnownFamily("GTE", gte.read),
    "new": KnownFamily("GTE", gte.read),  # as its authors name it
    "jina_embeddings_v3": KnownFamily("Jina v3", jina.read),
    "deberta-v2": KnownFamily("DeBERTa v2 and v3", deberta.read),
    "t5": KnownFamily("T5", t5.read),
    "mt5": KnownFamily("mT5", t5.read),
    "umt5": KnownFamily("UMT5", t5.read),
    "esm": KnownFamily("ESM-2, ESM-1b", esm.read, "proteins"),
    "vit": KnownFamily("ViT", vit.read, "pictures"),
    "deit": KnownFamily("DeiT", vit.read, "pictures"),
    "vit_mae": KnownFamily("ViT-MAE", vit.read, "pictures"),
    "ijepa": KnownFamily("I-JEPA", vit.read, "pictures"),
    "dinov2": KnownFamily("DINOv2", dinov2.read, "pictures"),
    "dinov2_with_registers": KnownFamily("DINOv2 with registers", dinov2.read, "pictures"),
    "dinov3_vit": KnownFamily("DINOv3", dinov3.read, "pictures"),
    "beit": KnownFamily("BEiT", beit.read, "pictures"),
    "data2vec-vision": KnownFamily("data2vec-vision", beit.read, "pictures"),
    "clip_vision_model": KnownFamily("CLIP vision", clip.read_pictures, "pictures"),
    "siglip_vision_model": KnownFamily("SigLIP vision", clip.read_pictures, "pictures"),
    "clip_text_model": KnownFamily("CLIP text", clip.read_texts),
    "siglip_text_model": KnownFamily("SigLIP text", clip.read_texts),
    torch_encoder.MODEL_TYPE: KnownFamily(torch_encoder.MODEL_TYPE, torch_encoder.read),
}


def family_names() -> str:
    """The names of all families, in the order of the table: "BERT, ERNIE, …"."""
    names = (*(family.name for family in FAMILIES.values()), *TWO_ENCODERS.values())
    return ", ".join(dict.fromkeys(names))


def families_table() -> str:
    """All families as a table in Markdown; those that one function reads are on one row."""
    groups: dict[tuple[Callable[..., Reading], str], list[str]] = {}
    for model_type, family in FAMILIES.items():
        groups.setdefault((family.read, family.reads), []).append(model_type)
    rows = ["| family | `model_type` in `config.json` | reads |", "|---|---|---|"]
    for (_, reads), model_types in groups.items():
        names = ", ".join(dict.fromkeys(FAMILIES[model_type].name for model_type in model_types))
        rows.append(_row(names, model_types, reads))
    rows.append(_row(", ".join(TWO_ENCODERS.values()), TWO_ENCODERS, "pictures and texts: two encoders"))
    return "\n".join(rows)


def _row(names: str, model_types: Iterable[str], reads: str) -> str:
    return f"| {names} | {', '.join(f'`{model_type}`' for model_type in model_types)} | {reads} |"
