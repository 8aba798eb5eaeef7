import numpy as np
import pandas as pd
import pytest
import torch

from model import checkpoint
from model.capture import capture
from model.decompositions.answer_parts import answer_parts
from model.experiments.probabilities import probabilities
from model.experiments.residual_stream import mean_norms, sublayer_shares
from model.inputs.digits import examples as digits
from model.measures.head_measures import mean_entropy
from model.train.claims import trained
from model.train.claims.seed_families import HeldOut, load_families
from model.train.claims.trained import (
    accuracy,
    early_share,
    gradient_norms,
    measure_trained,
    stream_and_attention,
)
from tests.model import tiny

TEXTS = ("great film", "not a film", "great", "a b c", "film not great")
POST = {"norm_placement": "post", "final_norm": False}
LOG = {
    "recipe": {"phases": [{"task": "masked tokens", "optimizer": "muon"}, {"task": "sentences"}]},
    "log": [
        {"phase": 0, "step": 0, "loss": 3.0},
        {"phase": 0, "step": 1, "loss": 2.0},
        {"phase": 1, "step": 0, "loss": 9.0},
    ],
    "evaluations": [],
}


@pytest.fixture
def family(tmp_path, monkeypatch):
    """Three pairs that read text, of which one has no partner, and one that reads digits; and a folder of sentences."""
    for number, name in enumerate(f"sentences-pre-ln-seed{seed}" for seed in range(3)):
        for folder, config in (
            (name, tiny.TEXT),
            (name.replace("pre", "post"), tiny.replace(tiny.TEXT, **POST)),
        ):
            if folder != "sentences-post-ln-seed2":
                loaded = tiny.loaded(config, number)
                checkpoint.save(tmp_path / "checkpoints" / folder, loaded.model, LOG, loaded.tokenizer)
    for name, config in (("mnist-pre-ln", tiny.DIGIT), ("mnist-post-ln", tiny.replace(tiny.DIGIT, **POST))):
        checkpoint.save(tmp_path / "checkpoints" / name, tiny.build(config), {})
    rows = [("dev", index, 1, index % 5, text) for index, text in enumerate(TEXTS * 4)]
    columns = ["split", "sentence", "whole", "rating", "text"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "sst.csv", index=False)
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", tmp_path / "checkpoints")
    images, labels = (values[:20] for values in digits())
    monkeypatch.setattr(trained, "SEEDS", (5, 6, 7))
    monkeypatch.setattr("model.train.claims.seed_families.examples", lambda: (images, labels))
    return tmp_path


@pytest.mark.usefixtures("family")
def test_families_are_pairs_of_one_seed():
    text, digits = load_families()
    assert (text.where, text.seeds, text.optimizer) == ("small text encoders", (0, 1), "muon and adamw")
    assert [loaded.name for loaded in text.post] == ["sentences-post-ln-seed0", "sentences-post-ln-seed1"]
    assert (digits.where, digits.seeds, digits.optimizer) == ("digit encoders", (0,), None)


@pytest.mark.slow
def test_every_figure_of_every_family(family):
    result = list(measure_trained(family))
    text = {item.figure for item in result if item.where == "small text encoders"}
    assert text == {
        *("stream growth", "share of sublayers", "entropy", "gradient, trained"),
        *("accuracy", "loss while learning", "distance of heads", "share of early layers"),
    }
    fresh = [item for item in result if item.where.endswith("untrained")]
    assert len(fresh) == 8
    assert {item.seeds for item in fresh} == {(5, 6, 7)}
    (learned,) = (item for item in result if item.figure == "loss while learning")
    assert (learned.pre, learned.n) == ((2.5, 2.5), 2)  # the first phase, and digits logged none
    (judged,) = (item for item in result if item.figure == "accuracy" and "text" in item.where)
    assert judged.n == 16  # without the neutral ones
    (apart,) = (item for item in result if item.figure == "distance of heads" and "text" in item.where)
    assert (len(apart.pre), len(apart.across)) == (1, 4)


@pytest.mark.slow
def test_fresh_encoders_of_one_seed_begin_alike(family):
    result = {(measured.figure, measured.where): measured for measured in measure_trained(family)}
    growth = result["stream growth", "small text encoders, untrained"]
    assert growth.post == pytest.approx(
        (1.0, 1.0, 1.0), abs=1e-3
    )  # norms that nobody trained give one length
    assert growth.pre[0] != growth.pre[1]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_batches_measure_what_single_records_do(placement):
    loaded = tiny.loaded(tiny.TEXT if placement == "pre" else tiny.replace(tiny.TEXT, **POST))
    examples = HeldOut(inputs=TEXTS, labels=(1, 0, 1, 0, 0), of="texts")
    records = [capture(loaded, text) for text in TEXTS]
    lengths = np.mean([mean_norms(record.residual) for record in records], axis=0)
    result = stream_and_attention(loaded, examples)
    assert result["stream growth"] == pytest.approx(lengths[-1] / lengths[2], rel=1e-4)
    shares = np.mean([sublayer_shares(loaded, text) for text in TEXTS])
    assert result["share of sublayers"] == pytest.approx(shares, rel=1e-4)
    entropies = [mean_entropy(record.pattern, record.mask).mean() for record in records]
    assert result["entropy"] == pytest.approx(np.mean(entropies), rel=1e-4)
    parts = [answer_parts(loaded, text).frame.query("layer.notna()") for text in TEXTS]
    early = [frame.query("layer == 0")["value"].abs().sum() / frame["value"].abs().sum() for frame in parts]
    assert early_share(loaded, examples) == pytest.approx(np.mean(early), rel=1e-6)
    right = probabilities(loaded, TEXTS)[:, 0].argmax(axis=-1) == np.array(examples.labels)
    assert accuracy(loaded, examples) == right.mean()


def test_gradients_are_those_of_the_loss():
    loaded = tiny.loaded(tiny.DIGIT)
    images = np.random.default_rng(1).integers(0, 256, (4, 8, 8), np.uint8)
    result = gradient_norms(loaded, HeldOut(inputs=tuple(images), labels=(0, 1, 2, 3), of="digits"))
    logits = loaded.model(torch.from_numpy(images / np.float32(255)))
    loss = -logits.log_softmax(-1)[range(4), range(4)].mean()
    named = dict(loaded.model.named_parameters())
    grads = dict(zip(named, torch.autograd.grad(loss, list(named.values()), allow_unused=True), strict=True))
    grads = {name: grad for name, grad in grads.items() if grad is not None}

    def norm(part):
        return sum(grad.square().sum().item() for name, grad in grads.items() if part in name) ** 0.5

    assert result.last == pytest.approx(norm("blocks.1.feed_forward.contract.weight"), rel=1e-4)
    assert result.whole == pytest.approx(norm(""), rel=1e-4)
    assert result.ratio == pytest.approx(norm("blocks.1.") / norm("blocks.0."), rel=1e-4)
    assert all(parameter.grad is None for parameter in named.values())


def test_examples_are_spread_evenly():
    few = HeldOut(inputs=tuple("abcdefghi"), labels=tuple(range(9)), of="letters").subset(3)
    assert (few.inputs, few.labels) == (("a", "e", "i"), (0, 4, 8))
    assert len(few.subset(10).inputs) == 3
