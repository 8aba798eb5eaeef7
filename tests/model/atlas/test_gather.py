from dataclasses import replace

import numpy as np
import pytest
import torch

from model.atlas.examples import Examples
from model.atlas.gather import gather
from model.capture import capture
from model.checkpoint import load, save
from model.digits import examples, to_input
from tests.model import tiny
from tests.model.tiny import CLOSE

TEXTS = ("great film", "not a great film", "x y z", "a")


@pytest.fixture
def texts(tmp_path) -> Examples:
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(TEXTS))
    return Examples(name="texts", csv=path, limit=10)


def stored(tmp_path, config, name="it"):
    made = tiny.loaded(config)
    save(tmp_path / name, made.model, {}, made.tokenizer)
    return load(tmp_path / name, "cpu")


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_means_and_deviations_of_texts(tmp_path, texts, placement):
    loaded = stored(tmp_path, replace(tiny.TEXT, norm_placement=placement, final_norm=placement == "pre"))
    found = gather(loaded, texts, "command")
    assert (found.source.n, found.source.data, found.source.command) == (4, "texts", "command")
    records = [capture(loaded, text) for text in TEXTS]

    def check(spread, values):
        np.testing.assert_allclose(spread.mean, np.mean(values, axis=0), **CLOSE)
        np.testing.assert_allclose(spread.sd, np.std(values, axis=0, ddof=1), **CLOSE)

    def rows(pattern):
        p = torch.from_numpy(pattern.copy()).double()
        return torch.special.entr(p).sum(-1) / np.log(p.shape[-1])

    entropies = [rows(each.pattern).mean(-1).numpy() for each in records]
    check(found.heads["entropy"], entropies)
    check(found.curves["entropy"], np.mean(entropies, axis=-1))
    check(found.heads["itself"], [np.einsum("lhqq->lh", r.pattern) / len(r) for r in records])
    check(found.heads["the class token"], [r.pattern[..., 0].mean(-1) for r in records])
    check(
        found.heads["the next token"],
        [sum(r.pattern[:, :, at, at + 1] for at in range(len(r) - 1)) / len(r) for r in records],
    )
    check(found.curves["norm"], [np.sqrt((r.residual**2).sum(-1)).mean(-1) for r in records])
    check(
        found.curves["answer"],
        [
            torch.from_numpy(r.logits_by_layer.copy()).softmax(-1)[:, int(r.logits.argmax())].numpy()
            for r in records
        ],
    )
    last = [float(r.probabilities.max()) for r in records]
    assert found.curves["answer"].mean[-1] == pytest.approx(np.mean(last), rel=1e-4)
    assert found.curves["share"].mean.shape == (4,)


def test_digits_have_no_next_patch(tmp_path):
    loaded = stored(tmp_path, tiny.DIGIT)
    found = gather(loaded, Examples(name="digits", csv=None, limit=3), "command")
    assert set(found.heads) == {"entropy", "mean distance (patches)", "itself", "the class token"}
    with torch.inference_mode():
        images = to_input(examples()[0][[0, 3333, 6666]], loaded.config)
        answers = loaded.model(images).softmax(-1).max(-1).values
    assert found.curves["answer"].mean[-1] == pytest.approx(float(answers.mean()), rel=1e-4)


def test_what_some_texts_lack_is_left_out(tmp_path):
    made = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    made.tokenizer.post_processor = None  # no separator but that of the text
    save(tmp_path / "it", made.model, {}, made.tokenizer)
    path = tmp_path / "texts.csv"
    path.write_text("text\ngreat [SEP] film\ngreat film\nfilm\n")
    loaded = load(tmp_path / "it", "cpu")
    found = gather(loaded, Examples(name="texts", csv=path, limit=9), "command")
    assert "the separator" not in found.heads
    assert "itself" in found.heads


def test_without_classes_there_is_no_answer(tmp_path, texts):
    found = gather(stored(tmp_path, replace(tiny.TEXT, class_names=())), texts, "command")
    assert set(found.curves) == {"norm", "share", "uniformity", "entropy"}


def test_a_text_without_a_token_is_named(tmp_path, texts):
    made = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    made.tokenizer.post_processor = None
    save(tmp_path / "it", made.model, {}, made.tokenizer)
    texts.csv.write_text('text\ngreat\n" "\n')
    with pytest.raises(ValueError, match="example 2: it finds no token in this text"):
        gather(load(tmp_path / "it", "cpu"), texts, "command")


def test_one_example_has_no_spread(tmp_path, texts):
    texts.csv.write_text("text\ngreat\n")
    with pytest.raises(ValueError, match="two examples at least, texts holds 1"):
        gather(stored(tmp_path, tiny.TEXT), texts, "command")
