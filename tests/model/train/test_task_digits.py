import pytest
import torch
from torch import Generator

from model.train.task_digits import Digits, augment, epoch_examples
from tests.model.tiny import DIGIT, build
from tests.tolerance import rounding


@pytest.fixture
def parts():
    torch.manual_seed(0)
    images, labels = torch.rand(20, 8, 8), torch.arange(20) % 10
    return (images, labels), (images[:7], labels[:7])


def test_each_example_comes_once_an_epoch_in_a_new_order():
    epochs = [
        torch.cat([epoch_examples(12, 0, epoch * 3 + index, 4) for index in range(3)]) for epoch in range(2)
    ]
    for epoch in epochs:
        assert sorted(epoch.tolist()) == list(range(12))
    assert epochs[0].tolist() != epochs[1].tolist()


def test_the_last_batch_of_an_epoch_may_be_a_small_one():
    epoch = [epoch_examples(10, 0, index, 4, drop_last=False) for index in range(3)]
    assert [len(positions) for positions in epoch] == [4, 4, 2]
    assert sorted(torch.cat(epoch).tolist()) == list(range(10))


def test_without_strength_the_digits_are_themselves(parts):
    images, labels = Digits(*parts, strength=0.0).batch(3, 1, 5)
    positions = epoch_examples(20, 3, 1, 5)
    assert torch.equal(images, parts[0][0][positions])
    assert torch.equal(labels, parts[0][1][positions])
    changed, _ = Digits(*parts, strength=1.0).batch(3, 1, 5)
    assert not torch.equal(changed, images)


def test_label_smoothing_is_part_of_the_loss_alone(parts):
    model = build(DIGIT)
    batch = parts[1]
    plain = Digits(*parts, strength=0.0, label_smoothing=0.0).loss(model, batch)
    smooth = Digits(*parts, strength=0.0, label_smoothing=0.5).loss(model, batch)
    with torch.no_grad():
        log_p = model(batch[0]).log_softmax(-1)
    right = log_p[torch.arange(7), batch[1]]
    assert plain.item() == pytest.approx(-right.mean().item(), rel=1e-5)
    assert smooth.item() == pytest.approx(-(0.5 * right + 0.5 * log_p.mean(-1)).mean().item(), rel=1e-5)


def test_evaluation_is_on_what_was_held_out(parts):
    model = build(DIGIT)
    with torch.inference_mode():
        result = Digits(*parts, strength=1.0).evaluate(model, 5)
        right = (model(parts[1][0][:5]).argmax(-1) == parts[1][1][:5]).double().mean().item()
    assert result["n"] == 5
    assert result["accuracy"] == pytest.approx(right)


def test_same_generator_gives_the_same_images():
    images = torch.rand(4, 28, 28)
    first, second = (augment(images, Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, augment(images, Generator().manual_seed(6)))


def test_without_strength_the_image_stays():
    images = torch.rand(3, 28, 28)
    torch.testing.assert_close(augment(images, Generator(), strength=0.0), images, atol=1e-5, rtol=0)


def test_ink_stays_about_the_same_and_within_range():
    images = torch.zeros(64, 28, 28)
    images[:, 8:20, 8:20] = 1.0
    changed = augment(images, Generator().manual_seed(0))
    assert changed.min() >= 0
    assert changed.max() <= 1 + rounding(16)  # shares of four pixels that add up to 1
    ratio = changed.sum(dim=(1, 2)) / images.sum(dim=(1, 2))
    assert ((ratio > 0.55) & (ratio < 1.8)).all()
