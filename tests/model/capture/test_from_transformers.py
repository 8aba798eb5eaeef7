"""Model objects of `transformers` of many families, as they are handed to the library."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from model.capture.from_transformers import from_transformers
from model.measures.word_view import view
from model.record.record_file import read, save
from tests.model.huggingface import folders

SENTENCE = folders.SENTENCE
SMALL = {"vocab_size": 40, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}


def words() -> transformers.PreTrainedTokenizerFast:
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=folders.tokenizer(), **names)


def made(kind: str, **values: Any) -> torch.nn.Module:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**values)
    return getattr(transformers, f"{kind}Model")(config).train()


MODELS = {
    "Bert": SMALL | {"intermediate_size": 40},
    "Llama": SMALL | {"intermediate_size": 40, "num_key_value_heads": 2},
    "GPT2": {"vocab_size": 40, "n_embd": 24, "n_layer": 2, "n_head": 4, "bos_token_id": 2, "eos_token_id": 3},
    "T5": {"vocab_size": 40, "d_model": 24, "d_kv": 6, "d_ff": 40, "num_layers": 2, "num_heads": 4},
    "Bart": {
        "vocab_size": 40,
        "d_model": 24,
        **{f"{part}_layers": 2 for part in ("encoder", "decoder")},
        **{f"{part}_attention_heads": 4 for part in ("encoder", "decoder")},
        **{f"{part}_ffn_dim": 40 for part in ("encoder", "decoder")},
    },
    "DebertaV2": SMALL
    | {"intermediate_size": 40, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
}


@pytest.mark.parametrize("kind", MODELS)
def test_any_family_gives_its_weights_and_stays_as_it_was(kind, tmp_path):
    model, tokenizer = made(kind, **MODELS[kind]), words()
    before = model.config._attn_implementation
    record = from_transformers(model, tokenizer, SENTENCE)
    assert record.pattern.shape == (2, 4, 10, 10)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
    assert (record.tokens[0], record.roles[0], record.roles[-1]) == ("[CLS]", "class", "separator")
    is_causal = kind in ("Llama", "GPT2")
    np.testing.assert_array_equal(
        record.mask[0, 0], np.tri(10, dtype=bool) if is_causal else np.ones((10, 10))
    )
    assert record.hidden_states is not None
    assert record.hidden_states.shape == (3, 10, 24)
    assert model.training
    assert all(module.training for module in model.modules())
    assert model.config._attn_implementation == before
    save(record, tmp_path / "record.npz", {})
    again = read(tmp_path / "record.npz")
    assert again.tokens == record.tokens
    np.testing.assert_array_equal(again.pattern, record.pattern)


def within(n: int, distance: int) -> np.ndarray:
    """Which of `n` queries see which keys, if each sees those that are at most `distance` away."""
    return np.array([[abs(query - key) <= distance for key in range(n)] for query in range(n)])


EMBEDDING = SMALL | {"num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 40, "pad_token_id": 0}
EMBEDDING |= {"bos_token_id": 2, "eos_token_id": 3, "sliding_window": 4}


@pytest.mark.parametrize(
    ("kind", "values", "seen_by_layer"),
    [
        ("Qwen3", {}, [np.tri(10)] * 2),
        (
            "Qwen3",
            {"use_sliding_window": True, "max_window_layers": 1},
            [np.tri(10), np.tri(10) * within(10, 3)],
        ),
        (
            "Gemma3Text",
            {
                "use_bidirectional_attention": True,
                "layer_types": ["sliding_attention", "full_attention"],
            },
            [within(10, 2), np.ones((10, 10))],  # half of the window to each side
        ),
        (
            "Gemma3Text",
            {"layer_types": ["sliding_attention", "full_attention"]},
            [np.tri(10) * within(10, 3), np.tri(10)],
        ),
    ],
)
def test_embedding_models_made_of_decoders_show_their_masks(kind, values, seen_by_layer):
    record = from_transformers(made(kind, **EMBEDDING | values), words(), SENTENCE)
    for layer, seen in enumerate(seen_by_layer):
        np.testing.assert_array_equal(record.mask[layer, 0], seen.astype(bool))
        np.testing.assert_array_equal(record.pattern[layer] > 0, np.broadcast_to(seen > 0, (4, 10, 10)))


def test_the_weights_are_those_of_eager_attention():
    model, tokenizer = made("Bert", **MODELS["Bert"]), words()
    record = from_transformers(model, tokenizer, (SENTENCE, folders.SECOND))
    assert record.roles.count("separator") == 2
    model.eval().set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(**tokenizer(SENTENCE, folders.SECOND, return_tensors="pt"), output_attentions=True)
    np.testing.assert_array_equal(record.pattern, torch.cat(outputs.attentions).numpy())
    prepared = from_transformers(model, tokenizer, tokenizer(SENTENCE, folders.SECOND, return_tensors="pt"))
    np.testing.assert_array_equal(prepared.pattern, record.pattern)


def test_logits_are_taken_where_the_model_has_some():
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(**MODELS["Bert"], num_labels=3)
    )
    record = from_transformers(model, words(), SENTENCE)
    assert record.logits is not None
    assert record.logits.shape == (3,)
    assert repr(record).startswith("ModelRecord(10 tokens '[CLS] the film")


@pytest.mark.parametrize(("kind", "n_before"), [("ViT", 1), ("Dinov2WithRegisters", 3), ("SiglipVision", 0)])
def test_pictures_go_through_an_image_processor(kind, n_before):
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    more = {"num_register_tokens": 2} if n_before == 3 else {}
    model = made(kind, **sizes, image_size=32, patch_size=8, **more)

    def processor(images: np.ndarray, return_tensors: str) -> dict[str, torch.Tensor]:
        assert return_tensors == "pt"
        return {"pixel_values": torch.from_numpy(images).permute(2, 0, 1)[None] / 255}

    record = from_transformers(model, processor, np.zeros((32, 32, 3), np.uint8))
    assert (record.patch_grid, record.first_patch, record.unit) == ((4, 4), n_before, "patch")


def test_words_that_begin_with_a_mark_are_shown_without_it_and_merge():
    class Pieces:
        eos_token, all_special_tokens = "<|endoftext|>", ("<|endoftext|>",)

        def convert_ids_to_tokens(self, _: list[int]) -> list[str]:
            return ["<|endoftext|>", "The", "Ġfil", "ms", "<|endoftext|>"]

    inputs = {"input_ids": torch.tensor([[1, 2, 3, 4, 1]])}
    record = from_transformers(made("GPT2", **MODELS["GPT2"]), Pieces(), inputs)
    assert record.tokens == ("<|endoftext|>", "The", "fil", "ms", "<|endoftext|>")
    assert view(record, merged=True).tokens == ("<|endoftext|>", "The", "films", "<|endoftext|>")


def test_the_lines_of_the_notebook_run(tmp_path, monkeypatch):
    folders.build(tmp_path, "BertModel")
    words().save_pretrained(tmp_path)
    monkeypatch.chdir(tmp_path)
    notebook = (Path(__file__).parents[3] / "docs/notebook.md").read_text("utf-8")
    lines = notebook.partition("<!-- needs transformers -->\n")[2].partition("\nThe file opens")[0]
    names: dict[str, Any] = {"folder": tmp_path}
    exec(dedent(lines), names)
    assert read(tmp_path / "record.npz").tokens == names["record"].tokens


def test_several_inputs_are_refused():
    model, tokenizer = made("Bert", **MODELS["Bert"]), words()
    with pytest.raises(ValueError, match="a record is of one input, got 2"):
        from_transformers(model, tokenizer, [SENTENCE, SENTENCE])
    with pytest.raises(ValueError, match="a record is of one input, but input_ids holds 2"):
        from_transformers(model, tokenizer, tokenizer([SENTENCE, SENTENCE], return_tensors="pt"))


def test_what_is_handed_over_wrongly_is_named():
    model, tokenizer = made("Bert", **MODELS["Bert"]), words()
    for arguments, sentence in (
        ((tokenizer, model, SENTENCE), "first argument must be a model object of transformers, got Tok"),
        ((torch.nn.Sequential(model), tokenizer, SENTENCE), r"it is model\[0\].auto_model"),
        (
            (model, None, SENTENCE),
            "second argument must be the model's tokenizer or image processor, got None",
        ),
        ((model, tokenizer, np.zeros((8, 8, 3), np.uint8)), "the input must be a text, .* got ndarray"),
        ((model, tokenizer, tokenizer(SENTENCE)), "the input holds no tensors"),
        ((model, tokenizer, {"input_ids": torch.zeros(1, 0, dtype=torch.long)}), "the input has no tokens"),
        ((model, tokenizer, "film " * 600), r"BertModel does not run on this input \(input_ids \[1, 602\]"),
    ):
        with pytest.raises(ValueError, match=sentence):
            from_transformers(*arguments)
    assert model.training


def test_a_model_without_weights_of_attention_is_told_how_to_load_it():
    class Silent(torch.nn.Linear):
        def forward(self, **_: object) -> object:  # type: ignore[override]  # as a model of transformers is called
            return object()

    with pytest.raises(ValueError, match=r'Silent returned no attention.*attn_implementation="eager"'):
        from_transformers(Silent(1, 1), words(), SENTENCE)
