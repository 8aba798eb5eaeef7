import pytest

from app_pages.controls.estimated_work import A_SECOND, duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.1, "about 1 s"),
        (89, "about 89 s"),
        (95, "about 2 min"),
        (89 * 60, "about 89 min"),
        (348 * 60, "about 6 h"),
    ],
)
def test_a_duration_is_told_in_the_unit_that_fits(seconds, text):
    assert duration(int(seconds * A_SECOND)) == text
