from pathlib import Path

from model.huggingface import describe
from tests.model.huggingface.folders import build


def rows(folder: Path) -> dict[str, str]:
    result = describe(folder)
    assert result.problem is None
    return dict(result.summary)


def test_a_folder_is_described_before_its_weights_are_read(tmp_path):
    model = build(tmp_path, "BertForSequenceClassification", id2label={0: "bad", 1: "good"})
    result = rows(tmp_path)
    n = sum(parameter.numel() for parameter in model.parameters())
    assert result["parameters"] == f"{n:,}"
    assert result["layers × heads"] == "3 × 4"
    assert result["LayerNorm"] == "after each sublayer (post-LN)"
    assert result["output"] == "one of 2 classes (bad, good)"
    assert "up to 40 tokens of a vocabulary of 30" in result["input"]


def test_what_esm_leaves_out_is_named(tmp_path):
    model = build(tmp_path, "EsmForMaskedLM")
    description = describe(tmp_path)
    assert description.family == "ESM-2"
    assert description.notes == ("Its contact head, which predicts which residues touch, is left out.",)
    assert description.left_out == ("esm.contact_head.regression.bias", "esm.contact_head.regression.weight")
    assert dict(description.summary)["parameters"] == f"{model.num_parameters():,}"


def test_positions_are_named(tmp_path):
    phrases = {}
    for name in ("BertModel", "MPNetModel", "ModernBertModel"):
        build(tmp_path / name, name)
        phrases[name] = rows(tmp_path / name)["positions"]
    assert phrases["BertModel"] == "learned vectors are added to the embedding"
    assert phrases["MPNetModel"] == (
        "learned vectors are added to the embedding; a bias on each score by distance, in 32 buckets up to 128 tokens"
    )
    assert phrases["ModernBertModel"] == (
        "queries and keys are rotated (rotary, base 160,000 and 10,000, by layer); 2 of 3 layers see 2 tokens to each side"
    )


def test_each_kind_of_output_is_named(tmp_path):
    outputs = {}
    for name in (
        "BertForMaskedLM",
        "BertForTokenClassification",
        "ElectraForPreTraining",
        "AlbertModel",
        "DeiTForImageClassificationWithTeacher",
    ):
        build(tmp_path / name, name)
        outputs[name] = rows(tmp_path / name)
    assert outputs["BertForMaskedLM"]["output"] == "a prediction for masked tokens"
    assert outputs["BertForTokenClassification"]["output"] == "one of 2 classes for each token"
    assert outputs["ElectraForPreTraining"]["output"] == "replaced or not, for each token"
    assert outputs["AlbertModel"]["output"].startswith("an embedding of 24 numbers: the class token's state")
    assert outputs["AlbertModel"]["layers × heads"] == "3 × 4, with 2 sets of weights shared among the layers"
    assert outputs["DeiTForImageClassificationWithTeacher"]["input"] == (
        "pictures of 32 × 32 in colour, as 16 patches of 8 × 8"
    )
