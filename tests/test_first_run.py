"""A test that opens an address with a key or an option that does not exist fails."""

import pytest

MASKS, COST = (f"app_pages/{name}/page.py" for name in ("masks", "cost"))


@pytest.mark.parametrize(
    ("page", "query", "wrong"),
    [
        (None, {"layer": "1", "lair": "1"}, ["lair"]),
        (None, {"layer": "9", "part": "median", "head": ""}, ["head", "layer", "part"]),
        (None, {"scale": ""}, ["scale"]),
        (None, {"checkpoint": "nothing"}, ["checkpoint"]),
        (None, {"seed": "1"}, ["seed"]),  # a widget's key, and none of the address
        (None, {"masks_kind": "Causal"}, ["masks_kind"]),
        (MASKS, {"masks_kind": "causal"}, ["masks_kind"]),
        (MASKS, {"masks_kind": "Local window", "masks_radius": "99"}, ["masks_radius"]),
        (COST, {"cost_from": "bigger"}, ["cost_from"]),
        (COST, {"figure": "none"}, ["figure"]),
    ],
)
def test_what_is_not_there_is_an_error(open_app, page, query, wrong):
    with pytest.raises(AssertionError) as raised:
        open_app(page, **query)
    assert str(raised.value).startswith(f"of {query}, the page cannot read {wrong}")
    assert not open_app(page, **query, forgiven=wrong).exception


def test_what_is_forgiven_must_be_wrong(open_app):
    with pytest.raises(AssertionError):
        open_app(layer="1", forgiven=["layer"])
