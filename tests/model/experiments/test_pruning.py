from dataclasses import replace

import numpy as np
import pytest
import torch

from model.experiments import batching
from model.experiments.pruning import PruningStep, greedy, n_removable_heads
from model.hooks import watch
from model.loaded import Loaded
from tests.model import tiny
from tests.model.experiments.known_heads import silence
from tests.model.tiny import TEXT, changed_at

TEXTS = ["not great film", "film", "great [PAD] film", "a b c", "great film great film", "x y z"]
LABELS = [0, 1, 1, 0, 1, 0]


def answers(loaded: Loaded, gone: set[tuple[int, int]], means: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Which are right, and the mean loss, from a forward for each text, with the heads replaced by watchers of its own."""

    def watcher(layer: int):
        heads = [head for layer_of_head, head in gone if layer_of_head == layer]
        return changed_at((0, heads), 0.0 if means is None else torch.tensor(means[layer, heads])[:, None])

    right, losses = [], []
    with torch.inference_mode(), watch(loaded.model, {f"blocks.{n}.attention.z": watcher(n) for n in (0, 1)}):
        for text, label in zip(TEXTS, LABELS, strict=True):
            ids = torch.tensor([loaded.tokenizer.encode(text).ids])
            logits = loaded.model(ids)[0].double()
            right.append(int(logits.argmax()) == label)
            losses.append(-logits.log_softmax(dim=-1)[label].item())
    return np.array(right), float(np.mean(losses))


def plainly(loaded: Loaded, means: np.ndarray | None) -> list[PruningStep]:
    heads = [(layer, head) for layer in range(2) for head in range(2)]
    before, loss = answers(loaded, set(), means)
    steps, gone = [PruningStep(0, None, None, before.mean(), loss, len(TEXTS), 0, 0)], set()
    while len(gone) < len(heads):
        left = [head for head in heads if head not in gone]
        best = min(left, key=lambda head: answers(loaded, {*gone, head}, means)[1])
        gone.add(best)
        right, loss = answers(loaded, gone, means)
        turned = int((before & ~right).sum()), int((right & ~before).sum())
        steps.append(PruningStep(len(gone), *best, right.mean(), loss, len(TEXTS), *turned))
    return steps


def compare(steps: list[PruningStep], expected: list[PruningStep]) -> None:
    assert [step[:3] for step in steps] == [step[:3] for step in expected]
    numbers = ([step[3:] for step in steps], [step[3:] for step in expected])
    np.testing.assert_allclose(*numbers, rtol=1e-4, atol=1e-6)


def one_step(wrong: int, right: int, n: int = 100, number: int = 1) -> PruningStep:
    """After 90 of 100 answers were right, so many turned wrong, and so many right."""
    return PruningStep(number, 0, 0, 0.9 + (right - wrong) / n, 0.5, n, wrong, right)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("seed", "with_means"), [(0, False), (1, True), (2, False), (3, True)])
def test_it_is_a_plain_loop_over_all_heads_that_are_left(seed, with_means):
    loaded = tiny.loaded(TEXT, seed)
    means = np.random.default_rng(seed).normal(size=(2, 2, 4)).astype(np.float32) if with_means else None
    result = list(greedy(loaded, TEXTS, LABELS, "zero" if means is None else means))
    compare(result, plainly(loaded, means))


def test_a_run_that_goes_on_and_small_batches_find_the_same(text_loaded, monkeypatch):
    whole = list(greedy(text_loaded, TEXTS, LABELS))
    removed = [(step.layer, step.head) for step in whole[1:3]]
    compare(list(greedy(text_loaded, TEXTS, LABELS, removed=removed)), whole[3:])
    monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", 1)
    compare(list(greedy(text_loaded, TEXTS, LABELS)), whole)


def test_heads_are_judged_by_other_inputs(text_loaded):
    """Chosen as before, while accuracy and loss are of those that chose nothing."""
    whole = list(greedy(text_loaded, TEXTS, LABELS))
    others = list(greedy(text_loaded, TEXTS[:3], LABELS[:3], judged=(TEXTS, LABELS)))
    assert others[0] == whole[0]
    np.testing.assert_allclose(others[-1][3:], whole[-1][3:], rtol=1e-6)
    chosen = list(greedy(text_loaded, TEXTS[:3], LABELS[:3]))
    assert [step[:3] for step in others] == [step[:3] for step in chosen]


def test_pictures_have_labels_as_well(digit_loaded):
    images = list(np.random.default_rng(2).integers(0, 256, (7, 8, 8), dtype=np.uint8))
    result = list(greedy(digit_loaded, images, [0, 1, 2, 3, 4, 5, 6]))
    assert [step.step for step in result] == [0, 1, 2, 3, 4]
    assert {(step.layer, step.head) for step in result[1:]} == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("seed", range(3))
def test_a_head_that_puts_out_nothing_costs_nothing_when_it_goes(seed):
    loaded = tiny.loaded(TEXT, seed)
    silence(loaded, 1, 0)
    steps = list(greedy(loaded, TEXTS, LABELS))
    number = next(step.step for step in steps if (step.layer, step.head) == (1, 0))
    np.testing.assert_allclose(steps[number][3:], steps[number - 1][3:], rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "right", "n"), [(9, 4, 100), (0, 3, 50), (7, 7, 40), (0, 0, 30), (5, 0, 5)]
)
def test_the_standard_error_is_that_of_paired_differences(wrong, right, n):
    differences = np.repeat([-1.0, 1.0, 0.0], [wrong, right, n - wrong - right])
    step = one_step(wrong, right, n)
    assert step.change == pytest.approx(differences.mean())
    assert step.standard_error == pytest.approx(differences.std(ddof=1) / np.sqrt(n))


@pytest.mark.parametrize(
    ("wrong", "right", "loses"),
    [(0, 0, False), (1, 0, False), (3, 2, False), (9, 4, False), (12, 2, True), (5, 0, True), (0, 9, False)],
)
def test_a_loss_is_one_beyond_two_standard_errors(wrong, right, loses):
    assert one_step(wrong, right).is_worse == loses


def test_one_input_tells_no_loss():
    assert np.isnan(one_step(1, 0, 1).standard_error)
    assert not one_step(1, 0, 1).is_worse


def test_how_many_may_go():
    turned = [(0, 0), (0, 2), (9, 4), (12, 2), (0, 0)]
    steps = [one_step(*counts, number=number) for number, counts in enumerate(turned)]
    assert n_removable_heads(steps) == 2  # whatever comes after
    assert n_removable_heads(steps[:3]) == 2
    assert n_removable_heads([steps[0], *(one_step(12, 2, number=index) for index in (1, 2))]) == 0
    with pytest.raises(ValueError, match="step 0"):
        n_removable_heads(steps[1:])


def test_answers_that_turned_are_counted_one_by_one(text_loaded):
    """Also where the run goes on after some heads: against step 0, which is then not given out."""
    means = 3 * np.random.default_rng(0).normal(size=(2, 2, 4)).astype(np.float32)
    whole = list(greedy(text_loaded, TEXTS, LABELS, means))
    assert (whole[0].turned_wrong, whole[0].turned_right) == (0, 0)
    for step in whole:
        assert step.n == len(TEXTS)
        assert step.accuracy == pytest.approx(whole[0].accuracy + step.change)
    again = greedy(
        text_loaded, TEXTS, LABELS, means, removed=[(step.layer, step.head) for step in whole[1:3]]
    )
    assert [step[5:] for step in again] == [step[5:] for step in whole[3:]]
    assert any(step.turned_wrong or step.turned_right for step in whole)


def test_what_has_no_label_or_no_input_is_refused(text_loaded):
    with pytest.raises(ValueError, match="no input"):
        next(greedy(text_loaded, [], []))
    with pytest.raises(ValueError, match="does not choose"):
        next(greedy(tiny.loaded(replace(TEXT, class_names=())), TEXTS, LABELS))
