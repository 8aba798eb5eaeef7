import numpy as np
import pytest
import torch

from model.theory.digit_training import digit_encoder, digit_tensors, train_steps
from model.theory.early_update import BATCH_SIZE, N_PROBES, mean_first_and_last, model_update
from model.theory.untrained_encoder import VARIANTS, UntrainedConfig

SETTING = UntrainedConfig(d_model=16, n_heads=2)
STEPS = {"learning_rate": 1e-3, "warmup": 0, "n_steps": 3, "seed": 0}


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_begins_at_0_and_moves(variant):
    moved = model_update(SETTING, variant, 2, **STEPS)
    assert moved.shape == (4,)
    assert moved[0] == 0
    assert (moved[1:] > 0).all()
    np.testing.assert_array_equal(moved, model_update(SETTING, variant, 2, **STEPS))


def test_by_two_encoders_one_of_which_is_trained():
    start, trained = (digit_encoder(SETTING, "post-LN", 2, 0) for _ in range(2))
    list(train_steps(trained, [1e-3] * 3, batch_size=BATCH_SIZE, seed=0))
    probes = digit_tensors()[0][-N_PROBES:]
    with torch.no_grad():
        apart = trained.encode(probes) - start.encode(probes)
    expected = apart.square().sum(dim=-1).sqrt().mean().item()
    assert model_update(SETTING, "post-LN", 2, **STEPS)[-1] == pytest.approx(expected, rel=1e-5)


def test_warm_up_makes_the_first_step_smaller():
    cold = model_update(SETTING, "post-LN", 4, **STEPS)
    warm = model_update(SETTING, "post-LN", 4, **STEPS | {"warmup": 10})
    assert warm[1] < cold[1] / 3


def test_without_a_learning_rate_nothing_moves():
    assert not model_update(SETTING, "pre-LN", 2, **STEPS | {"learning_rate": 0.0}).any()


def test_updates_of_several_seeds_by_hand():
    updates = np.array([[0.0, 1.0, 2.0, 4.0], [0.0, 3.0, 9.0, 5.0]])
    assert mean_first_and_last(updates) == (2, 4.5)
