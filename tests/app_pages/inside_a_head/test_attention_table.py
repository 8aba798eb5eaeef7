import re

from app_pages.inside_a_head.attention_table import TABLE_STEPS
from app_pages.inside_a_head.steps import STEPS, TableStep
from app_pages.show import html_table
from viz.builders.palette import FALLS, RISES


def test_the_steps_of_the_table_are_its_columns():
    assert {name for name, step in STEPS.items() if isinstance(step, TableStep)} == set(TABLE_STEPS)


def test_strips_have_the_colours_of_figures():
    assert dict(re.findall(r"--(falls|rises): (#\w+)", html_table._CSS)) == {"falls": FALLS, "rises": RISES}
