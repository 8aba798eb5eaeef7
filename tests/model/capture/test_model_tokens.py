"""Tokens and words of tokenizer objects of transformers, against what these objects say themselves."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from model.capture.from_transformers import from_transformers
from model.capture.model_tokens import token_positions, tokenizer_encoding
from model.inputs.text import encode
from model.record import Positions
from tests.model.capture.test_from_transformers import made
from tests.model.inputs.test_text import words_of

NAMES = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MODERNBERT = Regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
TEXTS = ("café, isn’t it?", "tab\there\n\nnew  line", "честное слово — £5", "a 😀👩\u200d👧 <mask> हिन्दी")
SIZES = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
SPEECH = SIZES | {
    "vocab_size": 32,
    "conv_dim": (8, 8),
    "conv_kernel": (10, 3),
    "conv_stride": (5, 2),
    "num_conv_pos_embedding_groups": 4,
    "num_conv_pos_embeddings": 8,
}
ENCODER_DECODER = {
    "d_model": 24,
    **{f"{part}_layers": 1 for part in ("encoder", "decoder")},
    **{f"{part}_attention_heads": 4 for part in ("encoder", "decoder")},
    **{f"{part}_ffn_dim": 40 for part in ("encoder", "decoder")},
}


def byte_level(splits: bool = True) -> Any:
    pieces = [*NAMES, *sorted(pre_tokenizers.ByteLevel.alphabet()), "is", "isn", "âĢ", "Ġa", "ðŁ"]
    merges = [("i", "s"), ("is", "n"), ("â", "Ģ"), ("Ġ", "a"), ("ð", "Ł")]
    made = Tokenizer(models.BPE({piece: index for index, piece in enumerate(pieces)}, merges))
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    words = pre_tokenizers.Split(MODERNBERT, "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([words, in_bytes]) if splits else in_bytes
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    special = dict(
        zip(("cls_token", "pad_token", "sep_token", "unk_token", "mask_token"), NAMES, strict=True)
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special)


def read(tokenizer: Any, model_input: Any) -> Positions:
    if isinstance(model_input, dict):
        ids = model_input["input_ids"][0].tolist()
    else:
        ids = tokenizer(*((model_input,) if isinstance(model_input, str) else model_input))["input_ids"]
    return token_positions(tokenizer, ids, tokenizer_encoding(tokenizer, model_input, ids))


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_the_tokenizers_own_numbers(text):
    tokenizer = byte_level()
    numbers = tokenizer(text).word_ids()
    expected = [
        "continuation" if index and number is not None and number == numbers[index - 1] else None
        for index, number in enumerate(numbers)
    ]
    positions = read(tokenizer, text)
    assert [role if role == "continuation" else None for role in positions.roles] == expected
    assert positions.pieces == tuple(tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"]))
    of_ids = read(tokenizer, {"input_ids": torch.tensor([tokenizer(text)["input_ids"]])})
    assert of_ids == positions


def test_words_and_tokens_are_texts():
    assert words_of(read(byte_level(), TEXTS[0])) == ["<s>", "café", ",", "isn", "’", "t", "it", "?", "</s>"]
    assert words_of(read(byte_level(), TEXTS[1])) == [
        *("<s>", "tab", "⇥", "here", "↵", "↵", "new", "·", "line", "</s>")
    ]
    assert read(byte_level(), "a 😀").tokens == (
        "<s>",
        "a",
        "·",
        "[U+1F600]1/3",
        "[U+1F600]2/3",
        "[U+1F600]3/3",
        "</s>",
    )
    assert words_of(read(byte_level(), ("ab", "ж"))) == ["<s>", "ab", "</s>", "ж", "</s>"]


def test_a_tokenizer_that_splits_no_text_has_words_between_spaces():
    assert words_of(read(byte_level(splits=False), "café, isn’t it?")) == [
        "<s>",
        "café,",
        "isn’t",
        "it?",
        "</s>",
    ]


def test_the_special_tokens_keep_their_roles():
    assert read(byte_level(), "a<mask>").roles == ("class", "word", "mask", "separator")


def test_an_unknown_piece_of_a_unigram_is_shown_as_its_text():
    made = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁a", -1.0), ("▁", -2.0)], unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.add_special_tokens(["<unk>"])
    positions = read(transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>"), "a ж")
    assert positions.tokens == encode(made, "a ж").tokens == ("a", "·", "ж")
    assert positions.roles == encode(made, "a ж").roles == ("word", "word", "unknown")


def test_a_tokenizer_in_python_is_read_by_its_spelling():
    positions = read(transformers.ByT5Tokenizer(), "a ж\n")
    assert positions.tokens == ("a", "·", "[U+0436]1/2", "[U+0436]2/2", "↵", "</s>")
    assert words_of(positions) == ["a", "ж", "↵", "</s>"]


def test_words_in_latin_letters_are_left_as_they_are(tmp_path):
    (tmp_path / "vocab.txt").write_text(
        "\n".join(("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "naïve", "Ã©", "##ly"))
    )
    tokenizer = transformers.BertTokenizer.from_pretrained(tmp_path, do_lower_case=False, strip_accents=False)
    positions = read(tokenizer, "naïve Ã©ly")
    assert positions.tokens == positions.pieces == ("[CLS]", "naïve", "Ã©", "##ly", "[SEP]")
    assert words_of(positions)[1:-1] == ["naïve", "Ã©##ly"]


def pixels(*shape: int) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.rand(shape, generator=torch.Generator().manual_seed(0))}


@pytest.mark.parametrize(
    ("kind", "values", "size", "grid", "before", "after"),
    [
        ("ViT", {"image_size": (32, 64), "patch_size": (8, 8)}, (32, 64), (4, 8), ["[CLS]"], []),
        ("ViT", {"image_size": (32, 64), "patch_size": (8, 4)}, (32, 64), (4, 16), ["[CLS]"], []),
        ("ViT", {"image_size": (16, 64), "patch_size": 16}, (16, 64), (1, 4), ["[CLS]"], []),
        ("DeiT", {"image_size": (32, 48), "patch_size": 8}, (32, 48), (4, 6), ["[CLS]", "[DIST]"], []),
        ("IJepa", {"image_size": (32, 48), "patch_size": 8}, (32, 48), (4, 6), [], []),
        (
            "Dinov2WithRegisters",
            {"image_size": 28, "patch_size": 14, "num_register_tokens": 2},
            (28, 42),
            (2, 3),
            ["[CLS]", "[register 1]", "[register 2]"],
            [],
        ),
        (
            "DINOv3ViT",
            {"hidden_size": 32, "image_size": 32, "patch_size": 8},
            (32, 48),
            (4, 6),
            ["[CLS]"],
            [],
        ),
        (
            "Yolos",
            {"image_size": [32, 48], "patch_size": 8, "num_detection_tokens": 3},
            (32, 48),
            (4, 6),
            ["[CLS]"],
            ["[detection 1]", "[detection 2]", "[detection 3]"],
        ),
        (
            "Pixio",
            {"image_size": 32, "patch_size": 8, "n_cls_tokens": 2},
            (32, 32),
            (4, 4),
            ["[CLS]", "[1]"],
            [],
        ),
    ],
)
def test_a_patch_has_the_name_of_its_place_in_the_picture(kind, values, size, grid, before, after):
    model, model_input = made(kind, **SIZES | values).eval(), pixels(1, 3, *size)
    record = from_transformers(model, object(), model_input)
    assert record.patch_grid == grid
    assert list(record.tokens[: len(before)]) == before
    assert list(record.tokens[record.patches.stop :]) == after
    rows, columns = grid
    patches = [f"r{row}c{column}" for row in range(rows) for column in range(columns)]
    assert list(record.tokens[record.patches]) == patches
    # by hand: which position moves when the pixels of one patch change
    height, width = size[0] // rows, size[1] // columns
    row, column = rows - 1, columns // 2
    changed = model_input["pixel_values"].clone()
    changed[..., row * height : (row + 1) * height, column * width : (column + 1) * width] += 1
    with torch.no_grad():
        one, other = (
            model(pixel_values=picture, output_hidden_states=True).hidden_states[0][0]
            for picture in (model_input["pixel_values"], changed)
        )
    (moved,) = torch.nonzero((one - other).abs().sum(dim=-1)).flatten().tolist()
    assert record.tokens[moved] == f"r{row}c{column}"


def test_the_position_of_a_detection_model_s_last_patch_is_before_its_detection_tokens():
    model = made("Yolos", **SIZES, image_size=[32, 48], patch_size=8, num_detection_tokens=10)
    record = from_transformers(model, object(), pixels(1, 3, 32, 48))
    assert record.tokens.index("r3c5") == 24
    assert record.roles[25:] == ("special",) * 10
    assert (record.patch_at(24), record.patch_at(25)) == (23, None)


def test_a_picture_of_another_size_is_read_as_its_library_interpolates_it():
    model = made("ViT", **SIZES, image_size=32, patch_size=8)
    model_input = pixels(1, 3, 32, 48) | {"interpolate_pos_encoding": True}
    assert from_transformers(model, object(), model_input).patch_grid == (4, 6)
    with pytest.raises(
        ValueError, match=r"ViTModel does not run on this input \(pixel_values \[1, 3, 32, 48\]\)"
    ):
        from_transformers(model, object(), pixels(1, 3, 32, 48))


ROWS = {
    "49 frames of sound": ("Wav2Vec2", SPEECH, {"input_values": torch.rand(1, 500)}, 49),
    "frames of sound": ("Hubert", SPEECH, {"input_values": torch.rand(1, 520)}, 51),
    "a spectrogram": (
        "AST",
        SIZES
        | {"patch_size": 8, "frequency_stride": 4, "time_stride": 4, "max_length": 40, "num_mel_bins": 24},
        {"input_values": torch.rand(1, 40, 24)},
        5 * 9 + 2,
    ),
    "Whisper": (
        "Whisper",
        ENCODER_DECODER
        | {"vocab_size": 50, "num_mel_bins": 16, "max_source_positions": 50, "pad_token_id": 0}
        | {"bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1},
        {"input_features": torch.rand(1, 16, 100)},
        50,
    ),
    "a film": (
        "VideoMAE",
        SIZES | {"image_size": 32, "patch_size": 16, "num_frames": 4, "tubelet_size": 2},
        {"pixel_values": torch.rand(1, 4, 3, 32, 32)},
        8,
    ),
    "steps of time": (
        "PatchTST",
        {"num_input_channels": 1, "context_length": 36, "patch_length": 4, "patch_stride": 4, "d_model": 24}
        | {"num_hidden_layers": 2, "num_attention_heads": 4},
        {"past_values": torch.rand(1, 36, 1)},
        9,
    ),
    "patches in an order of their own": (
        "ViTMAE",
        SIZES | {"image_size": 32, "patch_size": 8, "mask_ratio": 0.0},
        pixels(1, 3, 32, 32),
        17,
    ),
    "some of the patches": (
        "ViTMAE",
        SIZES | {"image_size": 32, "patch_size": 8},
        pixels(1, 3, 32, 32),
        5,
    ),
    "latents": (
        "Perceiver",
        {"num_latents": 9, "d_latents": 24, "d_model": 24, "num_blocks": 1, "num_self_attends_per_block": 2}
        | {"num_self_attention_heads": 4, "num_cross_attention_heads": 4},
        {"inputs": torch.rand(1, 20, 24)},
        9,
    ),
    "vectors that are given": ("Bert", SIZES, {"inputs_embeds": torch.rand(1, 16, 24)}, 16),
}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ROWS)
def test_what_is_no_picture_is_a_numbered_row(name):
    kind, values, model_input, n = ROWS[name]
    record = from_transformers(made(kind, **values), object(), model_input)
    assert (record.patch_grid, record.unit) == (None, "token")
    assert record.tokens == record.labels == tuple(str(index) for index in range(n))
    assert record.roles == ("word",) * n
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)


def test_as_many_latents_as_tokens_do_not_get_the_tokens_names():
    values = dict(ROWS["latents"][1]) | {"vocab_size": 262, "max_position_embeddings": 9}
    torch.manual_seed(0)
    model = transformers.PerceiverForMaskedLM(transformers.PerceiverConfig(**values))

    class Letters:
        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            return [chr(index) for index in ids]

    record = from_transformers(model, Letters(), {"input_ids": torch.arange(65, 74)[None]})
    assert record.tokens == tuple("012345678")


def test_a_class_token_behind_the_patches_is_no_patch():
    model = made(
        "Llama4Vision",
        **SIZES | {"hidden_size": 32, "intermediate_size": 128, "image_size": 32, "patch_size": 8},
        **{f"{part}_dim": 32 for part in ("vision_output", "projector_input", "projector_output")},
    )
    record = from_transformers(model, object(), pixels(1, 3, 32, 32))
    assert record.tokens[0] == "r0c0"
    assert record.roles == (*["patch"] * 16, "special")
