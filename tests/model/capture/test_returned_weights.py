"""Attention that is no [head, query, key] of each layer is refused, in a sentence that says why."""

import numpy as np
import pytest
import torch
import transformers

from model.capture.from_transformers import from_transformers
from model.capture.returned_weights import layer_weights_from_window
from tests.model.capture.test_from_transformers import MODELS, SENTENCE, SMALL, made, words
from tests.model.huggingface import folders

BIG_BIRD = SMALL | {
    "intermediate_size": 40,
    "block_size": 2,
    "num_random_blocks": 1,
    "max_position_embeddings": 64,
}


def bert() -> torch.nn.Module:
    return made("Bert", **MODELS["Bert"])


class Own(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bert = bert()
        self.head = torch.nn.Linear(24, 2)

    def forward(self, input_ids, attention_mask=None):
        return self.head(self.bert(input_ids, attention_mask=attention_mask).last_hidden_state[:, 0])


class TakesAll(Own):
    def forward(self, input_ids, attention_mask=None, **_):
        return super().forward(input_ids, attention_mask)


class Towers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.towers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.ModuleDict({"text": bert()})])

    def forward(self, texts):
        return texts


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (Own(), r"own\.bert"),
        (TakesAll(), r"takesall\.bert"),
        (Towers(), r"towers\.towers\[1\]\.text"),
        (torch.nn.DataParallel(bert()), r"dataparallel\.module"),
    ],
)
def test_of_an_own_module_the_encoder_inside_is_named(model, attribute):
    with pytest.raises(
        ValueError, match=f"is a module around a BertModel, .*: pass {attribute} in place of it"
    ):
        from_transformers(model, words(), SENTENCE)


def test_an_own_module_that_hands_everything_on_is_read():
    class Passing(Own):
        def forward(self, **arguments):
            return self.bert(**arguments)

    model = Passing()
    model.bert.set_attn_implementation("eager")
    np.testing.assert_array_equal(
        from_transformers(model, words(), SENTENCE).pattern,
        from_transformers(model.bert, words(), SENTENCE).pattern,
    )


def test_attention_in_blocks_is_refused_with_what_to_call():
    # In evaluation its random blocks are the first one, whose weights are returned once and counted twice.
    model = made("BigBird", **BIG_BIRD, attention_type="block_sparse")
    text = "film " * 15
    with pytest.raises(
        ValueError, match=r'attends in blocks.*call its set_attention_type\("original_full"\)'
    ):
        from_transformers(model, words(), text)
    model.set_attention_type("original_full")
    record = from_transformers(model, words(), text)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
    inner = transformers.BigBirdForMaskedLM(
        transformers.BigBirdConfig(**BIG_BIRD, attention_type="block_sparse")
    )
    with pytest.raises(ValueError, match=r"call its bert\.set_attention_type"):
        from_transformers(inner, words(), text)


T5_SIZES = MODELS["T5"] | {"local_radius": 3}
PICTURES = {"pixel_values": torch.zeros(1, 3, 32, 32)}
REFUSED = {
    "positions merged on the way": (
        lambda: made("Funnel", vocab_size=40, d_model=24, n_head=4, d_head=6, d_inner=40, block_sizes=[1, 1]),
        SENTENCE,
        "FunnelModel returns attention of 4 × 10 × 10, 4 × 5 × 10, and a record needs .* same positions",
    ),
    "fewer keys": (
        lambda: made(
            "Pvt",
            image_size=32,
            num_encoder_blocks=2,
            depths=[1, 1],
            sequence_reduction_ratios=[2, 1],
            hidden_sizes=[16, 32],
            patch_sizes=[4, 2],
            strides=[4, 2],
            num_attention_heads=[2, 2],
            mlp_ratios=[2, 2],
        ),
        PICTURES,
        "PvtModel returns attention of 2 × 64 × 16",
    ),
    "blocks of keys": (
        lambda: made("LongT5", **T5_SIZES),
        SENTENCE,
        "LongT5Model returns attention of 3 × 4 × 4 × 12",
    ),
    "channels": (
        lambda: made(
            "PatchTST",
            num_input_channels=3,
            context_length=32,
            patch_length=4,
            patch_stride=4,
            d_model=24,
            num_hidden_layers=2,
            num_attention_heads=4,
        ),
        {"past_values": torch.zeros(1, 32, 3)},
        r"attention within 3 windows \(or frames, or channels\)",
    ),
    "frames": (
        lambda: made(
            "Timesformer", **SMALL | {"vocab_size": None}, image_size=32, patch_size=16, num_frames=4
        ),
        {"pixel_values": torch.zeros(1, 4, 3, 32, 32)},
        "attention within 4 windows",
    ),
    "some layers without attention": (
        lambda: made(
            "Jamba",
            **SMALL,
            num_key_value_heads=2,
            intermediate_size=40,
            attn_layer_period=2,
            attn_layer_offset=1,
            num_experts=1,
            use_mamba_kernels=False,
            mamba_d_state=4,
        ),
        SENTENCE,
        "JambaModel has attention weights in 1 of its 2 layers alone",
    ),
    "other inputs": (
        bert,
        PICTURES,
        r"does not run on this input \(pixel_values \[1, 3, 32, 32\]\): it reads input_ids",
    ),
    "several pieces of sound": (
        bert,
        {"inputs_embeds": torch.zeros(2, 5, 24)},
        "a record is of one input, but inputs_embeds holds 2",
    ),
    "weights of several kinds": (
        lambda: made(
            "Lxmert", **SMALL, intermediate_size=40, l_layers=1, x_layers=1, r_layers=1, visual_feat_dim=4
        ),
        {
            "input_ids": torch.tensor([[2, 5, 3]]),
            "visual_feats": torch.zeros(1, 5, 4),
            "visual_pos": torch.zeros(1, 5, 4),
        },
        "returns its attention weights as language_attentions, vision_attentions, cross_encoder_attentions",
    ),
    "positions besides the tokens": (
        lambda: made("Vilt", **SMALL, intermediate_size=40, image_size=32, patch_size=8),
        {"input_ids": torch.tensor([[2, 5, 3]])} | PICTURES,
        "ViltModel attends between 20 positions, but the input has 3 tokens",
    ),
}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", REFUSED)
def test_other_attention_is_refused_with_its_reason(name):
    model, arguments, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        from_transformers(model(), words(), arguments)


def test_a_tokenizer_that_reads_something_else_is_named():
    class Pictures:
        def __call__(self, images: np.ndarray, return_tensors: str) -> dict:
            assert return_tensors == "pt"
            return {"pixel_values": torch.from_numpy(images)}

    with pytest.raises(ValueError, match="Pictures cannot read this str"):
        from_transformers(bert(), Pictures(), SENTENCE)
    with pytest.raises(
        ValueError, match=r"which names the tokens, got Pictures; of a processor it is processor\.tok"
    ):
        from_transformers(bert(), Pictures(), {"input_ids": torch.tensor([[2, 3]])})


def test_sound_goes_through_its_feature_extractor():
    def extractor(raw_speech: np.ndarray, return_tensors: str) -> dict[str, torch.Tensor]:
        assert return_tensors == "pt"
        return {"input_values": torch.from_numpy(raw_speech)[None]}

    sizes = {"vocab_size": 32, "conv_dim": (8,), "conv_kernel": (10,), "conv_stride": (5,)}
    model = made("Hubert", **SMALL | sizes, intermediate_size=40, num_conv_pos_embedding_groups=4)
    assert len(from_transformers(model, extractor, np.zeros(100, np.float32))) == 19


WINDOWS = [4, 8]
LONGFORMER = SMALL | {"intermediate_size": 40, "attention_window": WINDOWS, "max_position_embeddings": 30}


def test_columns_are_keys_around_the_query():
    weights = torch.tensor([[[0.0, 0.7, 0.3], [0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]])  # before, itself, behind
    result = layer_weights_from_window(weights, 2, None, torch.ones(3, dtype=torch.bool))
    by_hand = [[[0.7, 0.3, 0], [0.2, 0.3, 0.5], [0, 0.6, 0.4]]]
    np.testing.assert_allclose(result, by_hand)


def test_columns_of_another_window_are_refused():
    with pytest.raises(ValueError, match="3 columns of weights do not fit a window of 4"):
        layer_weights_from_window(torch.ones(1, 5, 3), 4, None, torch.ones(5, dtype=torch.bool))


@pytest.mark.parametrize("n_read", [5, 10])
@pytest.mark.parametrize("global_positions", [[], [0], [0, 3, 4]])
def test_the_weights_are_those_of_a_softmax_over_the_window(global_positions, n_read):
    model = made("Longformer", **LONGFORMER).eval()
    arguments = dict(words()(folders.SENTENCE, return_tensors="pt"))
    arguments["attention_mask"][:, n_read:] = 0
    is_global = torch.zeros(10, dtype=torch.bool)
    is_global[global_positions] = True
    arguments["global_attention_mask"] = is_global[None].long()
    record = from_transformers(model, words(), arguments)
    with torch.no_grad():
        states = model(**arguments, output_hidden_states=True).hidden_states
    distance = (torch.arange(10)[:, None] - torch.arange(10)).abs()
    for layer, window in enumerate(WINDOWS):
        attention, state = model.encoder.layer[layer].attention.self, states[layer][0]

        def scores(query: torch.nn.Linear, key: torch.nn.Linear, state: torch.Tensor = state) -> torch.Tensor:
            q, k = (part(state).view(10, 4, 6).transpose(0, 1) for part in (query, key))
            return (q @ k.transpose(1, 2) / 6**0.5).masked_fill(torch.arange(10) >= n_read, -torch.inf)

        near = (distance <= window / 2) | is_global
        expected = scores(attention.query, attention.key).masked_fill(~near, -torch.inf).softmax(dim=-1)
        of_global = scores(attention.query_global, attention.key_global).softmax(dim=-1)
        expected[:, is_global] = of_global[:, is_global]
        np.testing.assert_allclose(
            record.pattern[layer][:, :n_read], expected[:, :n_read].detach(), atol=1e-6
        )
        assert not record.pattern[layer][:, n_read:].any()


def test_as_many_tokens_as_columns_are_not_taken_for_keys():
    model = made("Longformer", **LONGFORMER | {"attention_window": [4, 4]})
    record = from_transformers(model, words(), "film good")  # 4 tokens, and 5 columns with padding
    assert record.pattern.shape == (2, 4, 4, 4)
    record = from_transformers(model, words(), "film good film")  # 5 tokens, 5 columns
    outside = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 2
    assert not record.pattern[..., outside].any()
    np.testing.assert_array_equal(record.mask, np.broadcast_to(~outside, record.mask.shape))
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)


def test_the_encoder_of_led_and_a_classifier_with_a_global_class_token():
    sizes = {
        "vocab_size": 40,
        "d_model": 24,
        "attention_window": [4, 4],
        "max_encoder_position_embeddings": 30,
    }
    for part in ("encoder", "decoder"):
        sizes |= {f"{part}_layers": 2, f"{part}_attention_heads": 4, f"{part}_ffn_dim": 40}
    record = from_transformers(made("LED", **sizes), words(), folders.SENTENCE)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
    torch.manual_seed(0)
    classifier = transformers.LongformerForSequenceClassification(transformers.LongformerConfig(**LONGFORMER))
    record = from_transformers(classifier, words(), folders.SENTENCE)
    np.testing.assert_allclose(record.pattern.sum(axis=-1), 1, atol=1e-5)
    assert (record.pattern[..., 0, :] > 0).all()  # the class token sees all, and all see it
    assert (record.pattern[..., 0] > 0).all()
