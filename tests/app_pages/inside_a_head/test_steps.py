import pytest

from app_pages.controls.inside_a_head_controls import STEP_TITLES
from app_pages.inside_a_head.steps import STEPS, difference_bound
from model.experiments.head_steps import ORDER


def test_every_step_of_a_block_can_be_drawn():
    assert all(set(STEPS) == set(order) for order in ORDER.values())
    assert set(STEPS) == set(STEP_TITLES)


@pytest.mark.parametrize(
    ("apart", "bound"),
    [
        (0.0, "0"),
        (2.1e-7, "3 × 10⁻⁷"),
        (3e-7, "3 × 10⁻⁷"),
        (9.5e-7, "1 × 10⁻⁶"),
        (1.2e-12, "2 × 10⁻¹²"),
        (0.41, "5 × 10⁻¹"),
    ],
)
def test_a_bound_is_never_below_what_was_found(apart, bound):
    assert difference_bound(apart) == bound
