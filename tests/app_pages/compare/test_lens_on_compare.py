import numpy as np
import pytest

from app_pages.subject import cache
from model.lenses import LENSES, through
from tests.app_pages.charts import shown, weights
from tests.app_pages.linked import ROUNDING, linked

SIDES = ("imdb-pre-ln", "imdb-post-ln")
TEXT = "not great film"


def by_number(lens: str) -> dict[str, str]:
    """What an address says: the same layer on both sides, and the same head where the lens has heads."""
    options = {"checkpoint": SIDES[0], "layer": "1", "text": TEXT, "lens": lens}
    return options | (
        {"compare_pairing": "of the same number", "head": "1"} if LENSES[lens].has_heads else {}
    )


def expected(lens: str, name: str) -> np.ndarray:
    return through(lens, cache.loaded(name), TEXT).pattern[1, 1 if LENSES[lens].has_heads else 0]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("lens", LENSES)
def test_both_sides_are_seen_through_it(open_compare, lens):
    app = open_compare(**by_number(lens))
    for number, name in zip(("first", "second"), SIDES, strict=True):
        chart = linked(app, f"heads_{number}")
        np.testing.assert_allclose(chart.map, expected(lens, name), atol=ROUNDING * chart.data["unit"] + 1e-6)
        assert chart.state("quantity") == LENSES[lens].quantity
        assert (f"lens: {lens}" in chart.state("notes")) == (lens != "attention")
    assert any(LENSES[lens].formula in message.value for message in app.markdown)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("lens", LENSES)
def test_the_difference_is_that_of_what_is_shown(open_compare, lens):
    app = open_compare(compare_view="difference", **by_number(lens))
    difference = expected(lens, SIDES[1]) - expected(lens, SIDES[0])
    np.testing.assert_allclose(weights(shown(app, "difference")), difference, atol=1e-6)
    title = shown(app, "difference")["layout"]["title"]["text"]
    assert ("H1" in title) == LENSES[lens].has_heads


def test_layers_are_paired_by_number(open_compare):
    app = open_compare(**by_number("rollout"))
    assert not app.exception
    assert any("one map a layer, paired by number" in message.value for message in app.markdown)
    assert app.selectbox(key="compare_view").options == ["all heads", "difference"]
    assert not any(button.key == "most_different" for button in app.button)


def test_two_encoders_with_the_same_classes_share_the_chosen_one(open_compare):
    lens = "gradient × attention"
    app = open_compare(lens_class="negative", **by_number(lens))
    for number, name in zip(("first", "second"), SIDES, strict=True):
        made = through(lens, cache.loaded(name), TEXT, 0).pattern[1, 0]
        chart = linked(app, f"heads_{number}")
        np.testing.assert_allclose(chart.map, made, atol=ROUNDING * chart.data["unit"] + 1e-6)


def test_two_digits(open_compare):
    app = open_compare(kind="Digit", compare_what="two inputs", compare_digit="5", lens="value zeroing")
    assert not app.exception
