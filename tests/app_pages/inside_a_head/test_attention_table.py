import re

import numpy as np
import pytest

from app_pages.inside_a_head.attention_table import TABLE_STEPS, column_digits
from app_pages.inside_a_head.steps import STEPS, TableStep
from app_pages.show import html_table
from viz.builders.palette import FALLS, RISES


@pytest.mark.parametrize(
    ("largest", "digits"), [(131.5, 1), (1e5, 1), (23.2, 1), (1.85, 2), (0.12, 3), (0.01, 4), (1e-9, 4), (0, 1)]
)  # fmt: skip
def test_a_column_has_three_digits_where_there_is_room(largest: float, digits: int) -> None:
    assert column_digits(np.array([0.0, -largest])) == digits


def test_the_steps_of_the_table_are_its_columns() -> None:
    assert {name for name, step in STEPS.items() if isinstance(step, TableStep)} == set(TABLE_STEPS)


def test_strips_have_the_colours_of_figures() -> None:
    assert dict(re.findall(r"--(falls|rises): (#\w+)", html_table._CSS)) == {"falls": FALLS, "rises": RISES}
