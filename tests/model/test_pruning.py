from dataclasses import replace

import numpy as np
import pytest
import torch

from model import probabilities as batching
from model.checkpoint import Loaded
from model.hooks import watch
from model.pruning import Step, greedy, may_go
from tests.model import tiny
from tests.model.tiny import TEXT

TEXTS = ["not great film", "film", "great [PAD] film", "a b c", "great film great film", "x y z"]
LABELS = [0, 1, 1, 0, 1, 0]


def figures(loaded: Loaded, gone: set[tuple[int, int]], means: np.ndarray | None) -> tuple[float, float]:
    """Accuracy and loss from a forward for each text, with the heads replaced by watchers of its own."""

    def watcher(layer: int):
        def replaced(z: torch.Tensor) -> torch.Tensor:
            z = z.clone()
            for at, head in gone:
                if at == layer:
                    z[:, head] = 0.0 if means is None else torch.tensor(means[layer, head])
            return z

        return replaced

    right, losses = [], []
    with torch.inference_mode(), watch(loaded.model, {f"blocks.{n}.attention.z": watcher(n) for n in (0, 1)}):
        for text, label in zip(TEXTS, LABELS, strict=True):
            ids = torch.tensor([loaded.tokenizer.encode(text).ids])
            logits = loaded.model(ids)[0].double()
            right.append(int(logits.argmax()) == label)
            losses.append(-logits.log_softmax(dim=-1)[label].item())
    return float(np.mean(right)), float(np.mean(losses))


def plainly(loaded: Loaded, means: np.ndarray | None) -> list[Step]:
    every = [(layer, head) for layer in range(2) for head in range(2)]
    steps, gone = [Step(0, None, None, *figures(loaded, set(), means))], set()
    while len(gone) < len(every):
        left = [each for each in every if each not in gone]
        best = min(left, key=lambda each: figures(loaded, {*gone, each}, means)[1])
        gone.add(best)
        steps.append(Step(len(gone), *best, *figures(loaded, gone, means)))
    return steps


def compare(found: list[Step], expected: list[Step]) -> None:
    assert [each[:3] for each in found] == [each[:3] for each in expected]
    np.testing.assert_allclose([e[3:] for e in found], [e[3:] for e in expected], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_means", [False, True])
def test_it_is_a_plain_loop_over_all_heads_that_are_left(seed, with_means):
    loaded = tiny.loaded(TEXT, seed)
    means = np.random.default_rng(seed).normal(size=(2, 2, 4)).astype(np.float32) if with_means else None
    found = list(greedy(loaded, TEXTS, LABELS, "zero" if means is None else means))
    compare(found, plainly(loaded, means))


def test_small_batches_find_the_same(text_loaded, monkeypatch):
    whole = list(greedy(text_loaded, TEXTS, LABELS))
    monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", 1)
    compare(list(greedy(text_loaded, TEXTS, LABELS)), whole)


def test_it_goes_on_where_it_was_stopped(text_loaded):
    whole = list(greedy(text_loaded, TEXTS, LABELS))
    removed = [(each.layer, each.head) for each in whole[1:3]]
    compare(list(greedy(text_loaded, TEXTS, LABELS, removed=removed)), whole[3:])


def test_heads_are_judged_by_other_inputs(text_loaded):
    """Chosen as before, while accuracy and loss are of those that chose nothing."""
    whole = list(greedy(text_loaded, TEXTS, LABELS))
    others = list(greedy(text_loaded, TEXTS[:3], LABELS[:3], judged=(TEXTS, LABELS)))
    assert others[0] == whole[0]
    np.testing.assert_allclose(others[-1][3:], whole[-1][3:], rtol=1e-6)
    chosen = list(greedy(text_loaded, TEXTS[:3], LABELS[:3]))
    assert [each[:3] for each in others] == [each[:3] for each in chosen]


def test_pictures_have_labels_as_well(digit_loaded):
    images = list(np.random.default_rng(2).integers(0, 256, (7, 8, 8), dtype=np.uint8))
    found = list(greedy(digit_loaded, images, [0, 1, 2, 3, 4, 5, 6]))
    assert [each.step for each in found] == [0, 1, 2, 3, 4]
    assert {(each.layer, each.head) for each in found[1:]} == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize("seed", range(3))
def test_a_head_that_puts_out_nothing_costs_nothing_when_it_goes(seed):
    loaded = tiny.loaded(TEXT, seed)
    values = loaded.model.blocks[1].attention.w_v
    with torch.no_grad():
        values.weight[:4] = 0
        values.bias[:4] = 0
    steps = list(greedy(loaded, TEXTS, LABELS))
    at = next(each.step for each in steps if (each.layer, each.head) == (1, 0))
    np.testing.assert_allclose(steps[at][3:], steps[at - 1][3:], rtol=1e-6)


def test_how_many_may_go():
    accuracies = [0.90, 0.91, 0.89, 0.885, 0.90]
    steps = [Step(at, 0, at, accuracy, 0.5) for at, accuracy in enumerate(accuracies)]
    assert may_go(steps) == 2  # 0.89 is a point less and no more; at 0.885 it is more, whatever comes after
    assert may_go(steps, lost=0.02) == 4
    assert may_go(steps, lost=0.0) == 1
    with pytest.raises(ValueError, match="step 0"):
        may_go(steps[1:])


def test_what_has_no_label_or_no_input_is_refused(text_loaded):
    with pytest.raises(ValueError, match="no input"):
        next(greedy(text_loaded, [], []))
    with pytest.raises(ValueError, match="does not choose"):
        next(greedy(tiny.loaded(replace(TEXT, class_names=())), TEXTS, LABELS))
