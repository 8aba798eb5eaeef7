import torch
from torch import Generator

from model.train.augment import augment
from tests.tolerance import rounding


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
