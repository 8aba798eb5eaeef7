"""Links are checked when they are made."""

import pytest

from app_pages.controls.address import Choice
from app_pages.controls.input_controls import CHECKPOINT, DIGIT, KIND
from app_pages.controls.map_controls import LAYER
from app_pages.controls.masks_controls import BLOCKED_KEYS, MASK, RADIUS
from app_pages.controls.pages import COST, MASKS, PAGES, controls_of, link, read_link
from app_pages.controls.positions_controls import POSITION, WORDS
from app_pages.controls.theory_controls import PLACEMENTS


def test_a_link_holds_what_the_address_of_its_page_shall_hold():
    made = link(MASKS, MASK.to("Causal"), LAYER.to(1), BLOCKED_KEYS.to("1.4"), CHECKPOINT.to("any/name"))
    assert made.page is MASKS
    assert made.query == {"masks_kind": "Causal", "layer": "1", "masks_keys": "1.4", "checkpoint": "any/name"}
    assert WORDS.to(True).address_value == "true"
    assert PLACEMENTS.to(["pre-LN", "post-LN"]).address_value == ["pre-LN", "post-LN"]


@pytest.mark.parametrize(
    ("control", "value"),
    [
        (MASK, "causal"),
        (KIND, "Photo"),
        (LAYER, "the last"),
        (LAYER, -1),
        (BLOCKED_KEYS, "1,4"),
        (RADIUS, -1),
        (RADIUS, float("nan")),
        (PLACEMENTS, ["pre-LN", "no norm"]),
        (DIGIT, -3),
    ],
    ids=str,
)
def test_a_value_that_a_control_does_not_have_is_refused(control, value):
    with pytest.raises(ValueError, match=f"{control.key}="):
        control.to(value)


def test_a_page_is_linked_by_its_own_controls_alone():
    with pytest.raises(ValueError, match="cost has no control masks_kind"):
        link(COST, MASK.to("Causal"))
    with pytest.raises(ValueError, match="no page prices"):
        read_link("prices", {})
    with pytest.raises(ValueError, match="masks_kind=causal"):
        read_link("masks", {"masks_kind": "causal"})
    assert read_link("positions", {"positions_t": "5", "figure": "anything"}).query["positions_t"] == "5"
    assert isinstance(POSITION.to(5), Choice)


def test_a_key_belongs_to_one_control():
    controls = [control for page in PAGES for control in controls_of(page).items()]
    assert len(set(controls)) == len({key for key, _ in controls}) > 100
