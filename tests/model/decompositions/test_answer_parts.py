"""Answers as sums of what each part of the residual stream adds to them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from model.capture import activations, capture
from model.decompositions.answer_parts import AnswerParts, answer_parts
from model.experiments.attribution import Similarity
from model.experiments.masked_word import MaskedWord, masked_word
from model.hooks import watch
from tests.model import tiny
from tests.model.decompositions.held import without_part
from tests.model.huggingface import folders
from tests.model.huggingface.agreement import picture

SENTENCE = "great film not a x y"
ONE_LAYER = replace(
    tiny.TEXT, d_model=6, n_layers=1, n_heads=2, d_k=3, d_v=3, positions="learned", pooling="mean"
)


def value(parts: AnswerParts, name: str) -> float:
    (number,) = parts.frame["value"][parts.frame["part"] == name]
    return float(number)


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_two_tokens_by_hand(placement):
    """Each part of both states is carried on by itself, in double precision; [CLS] and [SEP] are the two tokens."""
    loaded = tiny.loaded(replace(ONE_LAYER, norm_placement=placement, final_norm=placement == "pre"))
    model = loaded.model
    weight = {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}
    block = {name.removeprefix("blocks.0."): array for name, array in weight.items()}
    zeros = np.zeros((2, 6))

    def normed(x: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
        gain, shift = weight[f"{name}.weight"], weight[f"{name}.bias"]
        deviation = np.sqrt(sum(x.values()).var(axis=1, keepdims=True) + 1e-5)
        parts = {
            part: gain * (vectors - vectors.mean(axis=1, keepdims=True)) / deviation
            for part, vectors in x.items()
        }
        return parts | {"biases": parts["biases"] + shift}

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ block[f"{name}.weight"].T + block[f"{name}.bias"]

    ids = loaded.tokenizer.encode("").ids
    x = {
        "token": weight["embedding.tokens.weight"][ids],
        "position": weight["embedding.position_table"][:2],
        "biases": zeros,
    }
    read = sum((normed(x, "blocks.0.norm_attention") if placement == "pre" else x).values())
    q, k, v = (
        linear(read, f"attention.w_{name}").reshape(2, 2, 3) for name in "qkv"
    )  # [position, head, d_head]
    for head in (0, 1):
        weights = np.exp(q[:, head] @ k[:, head].T / np.sqrt(3))
        z = weights / weights.sum(axis=1, keepdims=True) @ v[:, head]
        x[f"L0 H{head}"] = z @ block["attention.w_o.weight"][:, 3 * head : 3 * head + 3].T
    x["biases"] = x["biases"] + block["attention.w_o.bias"]
    if placement == "post":
        x = normed(x, "blocks.0.norm_attention")
    read = sum((normed(x, "blocks.0.norm_feed_forward") if placement == "pre" else x).values())
    hidden = torch.nn.functional.gelu(torch.tensor(linear(read, "feed_forward.expand"))).numpy()
    x["L0 feed-forward"] = linear(hidden, "feed_forward.contract")
    x = normed(x, "final_norm" if placement == "pre" else "blocks.0.norm_feed_forward")
    direction = weight["classifier.weight"][1] - weight["classifier.weight"][0]
    expected = {part: vectors.mean(axis=0) @ direction for part, vectors in x.items()}
    expected["biases"] += weight["classifier.bias"][1] - weight["classifier.bias"][0]

    parts = answer_parts(loaded, "", 1)
    assert parts.frame["part"].tolist() == [
        "token",
        "position",
        "L0 H0",
        "L0 H1",
        "L0 feed-forward",
        "biases",
    ]
    for part, number in expected.items():
        assert value(parts, part) == pytest.approx(number, abs=2e-6), part
    assert parts.recorded == pytest.approx(sum(expected.values()), abs=2e-6)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("pooling", ["class", "mean"])
@pytest.mark.parametrize("placement", ["pre", "post", "deepnorm", "b2t"])
@pytest.mark.parametrize(
    ("part", "activation", "index"),
    [
        ("token", "embedding.content", (0,)),
        ("L0 H1", "blocks.0.attention.z", (0, 1)),
        ("L1 H0", "blocks.1.attention.z", (0, 0)),
        ("L0 feed-forward", "blocks.0.feed_forward_out", (0,)),
    ],
)
def test_without_a_part_the_answer_changes_by_it(pooling, placement, part, activation, index):
    loaded = tiny.loaded(
        replace(tiny.TEXT, norm_placement=placement, pooling=pooling, final_norm=placement == "pre")
    )
    parts = answer_parts(loaded, SENTENCE, 0)
    with without_part(loaded, SENTENCE, activation, index) as without:
        (logits,) = activations(without, [SENTENCE], ["logits"]).values()
    assert parts.recorded - float(logits[0, 0] - logits[0, 1]) == pytest.approx(value(parts, part), abs=5e-6)
    assert abs(value(parts, part)) > 1e-5


def test_heads_are_divided_by_the_token_that_they_read():
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    whole, by_token = answer_parts(loaded, SENTENCE), answer_parts(loaded, SENTENCE, by_token=True)
    of_head = by_token.frame.dropna(subset="read_from").groupby(["layer", "head"])["value"].sum()
    np.testing.assert_allclose(of_head, whole.frame.dropna(subset="head")["value"], atol=1e-6)
    labels = capture(loaded, SENTENCE).labels
    names = by_token.frame.query("layer == 1 and head == 0")["part"]
    assert names.tolist() == [f"L1 H0 from {label}" for label in labels]
    assert by_token.gap < 1e-6
    # one head's part of one token by hand: A_ij v_j W_O, through the last norm and the classifier
    record = capture(loaded, SENTENCE)
    w_o, classifier = loaded.model.blocks[1].attention.w_o.weight, loaded.model.classifier.weight
    vector = record.pattern[1, 0, :, 3, None] * record.v[1, 0, 3] @ w_o.detach().numpy()[:, :4].T
    norm, last = loaded.model.final_norm, record.residual[-1]
    carried = vector - vector.mean(axis=1, keepdims=True)
    carried = carried / np.sqrt(last.var(axis=1, keepdims=True) + 1e-5) * norm.weight.detach().numpy()
    index = record.predicted_class
    direction = (classifier[index] - classifier[1 - index]).detach().numpy()
    assert value(by_token, f"L1 H0 from {labels[3]}") == pytest.approx(
        carried.mean(axis=0) @ direction, abs=1e-6
    )


def test_of_several_classes_the_logit_is_less_the_mean_of_the_others(image):
    loaded = tiny.loaded(tiny.DIGIT)
    logits = capture(loaded, image).logits
    parts = answer_parts(loaded, image, 7)
    assert parts.quantity == "logit of 7 minus the mean of the others"
    assert parts.recorded == pytest.approx(logits[7] - np.delete(logits, 7).mean(), abs=1e-6)
    assert answer_parts(loaded, image).quantity == f"logit of {logits.argmax()} minus the mean of the others"
    # the map of patches has a bias, which is no content of a picture
    assert parts.frame["part"].tolist()[:3] == ["token", "position", "L0 H0"]


@pytest.mark.parametrize(
    ("changed", "quantity"),
    [
        ({"num_labels": 1}, "LABEL_0"),
        ({"num_labels": 3, "problem_type": "multi_label_classification"}, "logit of LABEL_2"),
    ],
)
def test_a_number_and_a_yes_or_no_are_themselves(changed, quantity, tmp_path):
    loaded = folders.encoder(tmp_path, "RobertaForSequenceClassification", **changed)
    answer = changed["num_labels"] - 1
    parts = answer_parts(loaded, folders.SENTENCE, answer)
    assert parts.quantity == quantity
    assert parts.recorded == pytest.approx(capture(loaded, folders.SENTENCE).logits[answer], abs=1e-6)


def test_a_masked_word_is_its_logit_less_the_mean_over_the_vocabulary():
    loaded = tiny.loaded(replace(tiny.TEXT, masked_token_output=True))
    text = "great [MASK] not"
    parts = answer_parts(loaded, text, masked_word(loaded, text, "film"))
    record = capture(loaded, text)
    with torch.inference_mode():
        states = loaded.model.final_norm(torch.tensor(record.residual[-1]))
        logits = loaded.model.predict_tokens(states)[2].numpy()
    token_id = loaded.tokenizer.token_to_id("film")
    assert parts.recorded == pytest.approx(logits[token_id] - logits.mean(), abs=1e-6)
    assert parts.quantity == "logit of “film” minus the mean over the vocabulary"
    assert parts.gap < 1e-5 * parts.frame["value"].abs().max()
    with pytest.raises(ValueError, match="position 1 holds no"):
        answer_parts(loaded, text, MaskedWord(1, token_id))


def test_similarities_and_lengths_of_pooled_states():
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=(), pooling="max"))
    pooled, other = (capture(loaded, text).pooled for text in (SENTENCE, "not a film"))
    similarity = answer_parts(loaded, SENTENCE, Similarity("not a film"))
    cosine = pooled @ other / np.linalg.norm(pooled) / np.linalg.norm(other)
    assert similarity.recorded == pytest.approx(cosine, abs=1e-6)
    assert answer_parts(loaded, SENTENCE, Similarity()).recorded == pytest.approx(1, abs=1e-6)
    length = answer_parts(loaded, SENTENCE)
    assert (length.quantity, similarity.quantity) == ("length of the pooled state", "cosine similarity")
    assert length.recorded == pytest.approx(np.linalg.norm(pooled), abs=1e-5)
    for parts in (similarity, length):
        assert parts.gap < 1e-5 * parts.frame["value"].abs().max()
    with pytest.raises(ValueError, match="tiny has no classes, got class 1"):
        answer_parts(loaded, SENTENCE, 1)


def test_what_attention_pooling_adds_is_a_part(tmp_path):
    loaded = folders.encoder(tmp_path, "SiglipVisionModel")
    parts = answer_parts(loaded, picture(32))
    assert parts.frame["part"].tolist()[-2:] == ["biases", "pooling feed-forward"]
    pooling, pooled = loaded.model.attention_pooling, capture(loaded, picture(32)).pooled
    states = torch.tensor(capture(loaded, picture(32)).residual[-1])
    with torch.inference_mode():
        y = pooling.attention(loaded.model.final_norm(states)[None])[0, 0].numpy()
    expected = (pooled - y) @ pooled / np.linalg.norm(pooled)
    assert value(parts, "pooling feed-forward") == pytest.approx(expected, abs=1e-5)


def test_the_share_of_the_first_half_of_the_layers_by_hand():
    rows = [
        ("token", None, None, 9.0),
        ("head", 0, 0, -1.0),
        ("head", 0, 1, 0.5),
        ("feed-forward", 0, None, 1.5),
        ("head", 1, 0, 4.0),
        ("feed-forward", 1, None, -2.0),
        ("head", 2, 0, 1.0),
        ("biases", None, None, 5.0),
    ]
    frame = pd.DataFrame(rows, columns=["kind", "layer", "head", "value"])
    assert AnswerParts("a number", frame, 1.0).early_share == pytest.approx(3 / 10)  # of 3 layers the first
    loaded = tiny.loaded(tiny.TEXT)
    whole, by_token = (answer_parts(loaded, SENTENCE, by_token=by_token) for by_token in (False, True))
    assert by_token.early_share == pytest.approx(whole.early_share, abs=1e-6)


def test_a_gap_is_shown():
    loaded = tiny.loaded(tiny.TEXT)
    with watch(loaded.model, {"blocks.0.resid_post": lambda x: x + 1 * torch.eye(*x.shape[1:])}):
        parts = answer_parts(loaded, SENTENCE)
    assert parts.gap == abs(parts.total - parts.recorded) > 1e-3


def test_a_class_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="tiny has the classes 0 to 1, got 2"):
        answer_parts(tiny.loaded(tiny.TEXT), SENTENCE, 2)
