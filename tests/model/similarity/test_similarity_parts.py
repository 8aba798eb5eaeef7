"""Cosines of two inputs as sums over pairs of their tokens."""

from dataclasses import replace
from string import ascii_lowercase

import numpy as np
import pytest
import torch
from tokenizers import processors

from model.capture import activations, capture
from model.checkpoint import load
from model.loaded import Loaded
from model.similarity.similarity_parts import OWN_STATE, similarity_parts
from tests.model import tiny
from tests.model.huggingface import folders
from tests.model.huggingface.agreement import picture
from tests.model.huggingface.sentence_folders import build_sentence_encoder, modules, pooling
from tests.model.huggingface.test_sentence_transformers import dense, layer

A, B = "the film is not bad at all .", "a long slow story"
BARE = replace(
    tiny.TEXT, d_model=32, d_k=16, d_v=16, positions="none", pooling="mean", class_names=(), final_norm=False
)
TANH, IDENTITY = "torch.nn.modules.activation.Tanh", "torch.nn.modules.linear.Identity"


def of_tokens_alone(**vectors: np.ndarray) -> Loaded:
    """An encoder whose states are the embeddings of its tokens: no sublayer adds anything. Those that are not named are 0."""
    loaded = tiny.loaded(BARE)
    with torch.no_grad():
        for parameter in loaded.model.parameters():
            parameter.fill_(0)
        for token, vector in vectors.items():
            index = loaded.tokenizer.token_to_id(token)
            loaded.model.embedding.tokens.weight[index, : len(vector)] = torch.tensor(
                vector, dtype=torch.float32
            )
    return loaded


def test_a_cosine_of_two_and_three_tokens_by_hand():
    loaded = of_tokens_alone(**{"[CLS]": np.array([1, 0]), "[SEP]": np.array([0, 1]), "a": np.array([2, 0])})
    parts = similarity_parts(loaded, "", "a")
    assert parts.rows == ("0 [CLS]", "1 [SEP]")
    assert parts.columns == ("0 [CLS]", "1 a", "2 [SEP]")
    # the means are (1/2, 1/2) and (1, 1/3)
    factor = 1 / (2 * 3 * np.sqrt(1 / 2) * np.sqrt(10 / 9))
    np.testing.assert_allclose(parts.values, factor * np.array([[1, 2, 0], [0, 0, 1]]), atol=1e-7)
    assert parts.recorded == pytest.approx(2 / np.sqrt(5), abs=1e-7)
    assert parts.gap < 1e-7
    assert (parts.quantity, parts.divided) == ("cosine similarity of the pooled states", "last states")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("seed", range(20))
def test_a_rare_word_in_both_texts_is_the_largest_cell_by_words(seed):
    random = np.random.default_rng(seed)
    pieces = [*ascii_lowercase, *(f"##{letter}" for letter in ascii_lowercase)]
    vectors = dict(zip(pieces, random.normal(size=(len(pieces), 32)), strict=True))
    loaded = of_tokens_alone(**vectors)
    letters = random.permutation([*ascii_lowercase])
    rare = "".join(letters[:2])
    texts = [[*letters[2:6]], [*letters[6:9]]]
    for words in texts:
        words.insert(random.integers(len(words) + 1), rare)
    parts = similarity_parts(loaded, *map(" ".join, texts)).by_word()
    row, column = np.unravel_index(parts.values.argmax(), parts.values.shape)
    assert (parts.a.tokens[row], parts.b.tokens[column]) == (rare, rare)
    assert parts.gap < 1e-6


class Sums:
    """A vector as a sum of rows, to which the steps that sentence-transformers documents are applied one after the other."""

    def __init__(self, states: np.ndarray, *poolings: str) -> None:
        n = len(states)
        chosen = states == states.max(axis=0)
        made = {"mean": states / n, "max": states * chosen, "class": states * (np.arange(n) == 0)[:, None]}
        pooled = {"mean": states.mean(axis=0), "max": states.max(axis=0), "class": states[0]}
        rows = np.hstack([made[name] for name in poolings])
        self.rows = np.vstack((rows, np.zeros((1, rows.shape[1]))))  # the last: of biases
        self.whole = np.concatenate([pooled[name] for name in poolings])

    def dense(self, weight: torch.Tensor, shift: torch.Tensor, *, tanh: bool) -> None:
        self.rows = self.rows @ weight.double().numpy().T
        self.rows[-1] += shift.double().numpy()
        self.whole = weight.double().numpy() @ self.whole + shift.double().numpy()
        if tanh:
            self.rows *= np.tanh(self.whole) / self.whole
            self.whole = np.tanh(self.whole)

    def layer_norm(self, gain: torch.Tensor, shift: torch.Tensor) -> None:
        deviation = np.sqrt(self.whole.var() + 1e-5)
        self.rows, self.whole = (
            gain.double().numpy() * (x - x.mean(axis=-1, keepdims=True)) / deviation
            for x in (self.rows, self.whole)
        )
        self.rows[-1] += shift.double().numpy()
        self.whole += shift.double().numpy()

    def normalize(self) -> None:
        length = np.linalg.norm(self.whole)
        self.rows, self.whole = self.rows / length, self.whole / length


ALL = ("Dense tanh", "LayerNorm", "Dense identity", "Normalize")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("poolings", "kinds"),
    [
        (("mean",), ()),
        *((("mean",), (kind,)) for kind in ALL),
        *((poolings, ALL) for poolings in (("mean",), ("max",), ("class", "mean"), ("mean", "max"))),
    ],
)
def test_each_step_of_sentence_transformers_is_followed(poolings, kinds, tmp_path):
    torch.manual_seed(0)
    build_sentence_encoder(tmp_path)
    pooling(tmp_path, pooling_mode=[{"class": "cls"}.get(name, name) for name in poolings])
    width = 24 * len(poolings)
    steps, listed = [], []
    for index, kind in enumerate(kinds):
        module, _, activation = kind.partition(" ")
        listed.append((module, f"{index + 2}_{module}"))
        if module == "Dense":
            out = width - 5
            numbers = dense(tmp_path, listed[-1][1], width, out, TANH if activation == "tanh" else IDENTITY)
            steps.append(
                lambda sums, numbers=numbers, tanh=activation == "tanh": sums.dense(*numbers, tanh=tanh)
            )
            width = out
        elif module == "LayerNorm":
            gain, shift = torch.rand(width) + 0.5, torch.randn(width)
            layer(tmp_path, listed[-1][1], {"norm.weight": gain, "norm.bias": shift}, dimension=width)
            steps.append(lambda sums, gain=gain, shift=shift: sums.layer_norm(gain, shift))
        else:
            steps.append(Sums.normalize)
    modules(tmp_path, ("Transformer", ""), ("Pooling", "1_Pooling"), *listed)
    loaded = load(tmp_path)
    parts = similarity_parts(loaded, A, B)
    assert parts.gap <= 1e-5
    sides = []
    for text in (A, B):
        sums = Sums(capture(loaded, text).residual[-1].astype(float), *poolings)
        for step in steps:
            step(sums)
        sides.append(sums)
    first, second = (sums.rows / np.linalg.norm(sums.whole) for sums in sides)
    has_biases = any(kind.startswith(("Dense", "LayerNorm")) for kind in kinds)
    if not has_biases:
        first, second = first[:-1], second[:-1]
    np.testing.assert_allclose(parts.values, first @ second.T, atol=1e-5)
    assert parts.rows[-1] == ("biases" if has_biases else "9 [SEP]")
    cosine = sides[0].whole @ sides[1].whole / np.linalg.norm(sides[0].whole) / np.linalg.norm(sides[1].whole)
    assert parts.recorded == pytest.approx(cosine, abs=1e-6)
    assert parts.divided == "last states"


def test_of_a_class_token_it_is_what_its_heads_read_in_the_last_layer(tmp_path):
    build_sentence_encoder(tmp_path)
    pooling(tmp_path, pooling_mode="cls")
    modules(tmp_path, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    torch.manual_seed(0)
    weight, shift = dense(tmp_path, "2_Dense", 24, 7, IDENTITY)
    loaded = load(tmp_path)
    parts = similarity_parts(loaded, A, B)
    assert parts.divided == "what [CLS] read in the last layer"
    assert parts.rows[-3:] == ("9 [SEP]", OWN_STATE, "biases")
    assert parts.gap <= 1e-6
    sides = [read_by_class_token(loaded, text, weight.numpy(), shift.numpy()) for text in (A, B)]
    np.testing.assert_allclose(parts.values, sides[0] @ sides[1].T, atol=1e-6)


def read_by_class_token(loaded: Loaded, text: str, weight: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """What [CLS] reads from each token in the last layer, its own state, and the bias of the linear map: [row, number]."""
    record, block = capture(loaded, text), loaded.model.blocks[-1]
    names = [f"blocks.{record.config.n_layers - 1}.{name}" for name in ("attention_out", "feed_forward_out")]
    attended, fed = (value[0, 0].numpy() for value in activations(loaded, [text], names).values())
    w_o = block.attention.w_o.weight.detach().numpy()
    weighted = record.pattern[-1, :, 0, :, None] * record.v[-1]  # [head, key, d_v]
    reads = weighted.transpose(1, 0, 2).reshape(len(record), -1) @ w_o.T
    middle = record.residual[-3][0] + attended
    for norm, before in (
        (block.norm_attention, middle),
        (block.norm_feed_forward, record.residual[-2][0] + fed),
    ):
        deviation = np.sqrt(before.var() + record.config.layer_norm_eps)
        reads = (reads - reads.mean(axis=1, keepdims=True)) / deviation * norm.weight.detach().numpy()
    own = record.residual[-1][0] - reads.sum(axis=0)
    rows = np.vstack((reads @ weight.T, weight @ own, shift))
    return rows / np.linalg.norm(record.pooled)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "last"),
    [("CLIPTextModel", "[SEP]"), ("SiglipTextModel", "[PAD]"), ("BertModel", "[CLS]")],
)
def test_whichever_token_stands_for_a_text_is_named(architecture, last, tmp_path):
    parts = similarity_parts(folders.encoder(tmp_path, architecture), A, B)
    assert parts.divided == f"what {last} read in the last layer"
    assert parts.gap <= 1e-6


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ["ViTModel", "CLIPVisionModel", "SiglipVisionModel", "BeitModel"])
def test_pictures_are_divided_by_patches(architecture, tmp_path):
    loaded = folders.encoder(tmp_path, architecture)
    image = picture(32)
    parts = similarity_parts(loaded, image, image[::-1, :20].copy())
    assert parts.a.patch_grid is not None
    assert "r0c0" in parts.rows
    assert parts.gap <= 1e-5
    assert ("pooling feed-forward" in parts.rows) == (architecture == "SiglipVisionModel")


def test_of_an_encoder_with_classes_the_pooled_states_are_compared():
    parts = similarity_parts(tiny.loaded(tiny.TEXT), "great film", "not")
    assert parts.quantity == "cosine similarity of the pooled states, which the classifier reads"
    u, v = (capture(tiny.loaded(tiny.TEXT), text).pooled for text in ("great film", "not"))
    assert parts.recorded == pytest.approx(u @ v / np.linalg.norm(u) / np.linalg.norm(v), abs=1e-6)


@pytest.mark.parametrize("pooled", ["class", "mean", "max"])
def test_texts_of_one_token(pooled):
    loaded = tiny.loaded(replace(tiny.TEXT, pooling=pooled))
    loaded = replace(loaded, tokenizer=tiny.amino_acids(12))
    loaded.tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    parts = similarity_parts(loaded, "A", "C")
    assert parts.values.shape == (1, 1)
    assert parts.gap < 1e-6
    longer = similarity_parts(loaded, "A", "C D E")
    assert longer.gap < 1e-6
    assert (OWN_STATE in longer.rows) == (pooled == "class")


@pytest.mark.parametrize("number", [0.0, np.nan, np.inf])
def test_a_vector_without_a_direction_is_refused(number):
    loaded = of_tokens_alone(a=np.array([number]))
    with pytest.raises(ValueError, match=r"tiny makes a pooled state of length (0|nan|inf) of this input"):
        similarity_parts(loaded, "a", "a")


def test_cells_by_word_are_sums_of_the_cells_of_their_pieces():
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=()))
    parts = similarity_parts(loaded, "films not", "ab films")
    words = parts.by_word()
    assert words.rows == ("0 [CLS]", "1 films", "3 not", "4 [SEP]", OWN_STATE)
    assert words.columns == ("0 [CLS]", "1 ab", "3 films", "5 [SEP]", OWN_STATE)
    assert words.values[1, 2] == pytest.approx(parts.values[1:3, 3:5].sum())
    assert words.total == pytest.approx(parts.total)
    np.testing.assert_array_equal(words.by_word().values, words.values)
    same = similarity_parts(loaded, "not", "film")
    np.testing.assert_array_equal(same.by_word().values, same.values)
