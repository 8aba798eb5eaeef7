from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.compare_controls import BY_NUMBER, PAIRING
from app_pages.controls.masks_controls import MASK
from app_pages.controls.pages import PAGES, controls_of

Open = Callable[..., AppTest]

# As they stood in the guide and in copied links of an earlier version.
LINKS = [
    ("masks", {"masks_kind": "Key padding"}),
    ("masks", {"masks_kind": "Block keys", "masks_keys": "1"}),
    ("inside_a_head", {"inside": "Sets"}),
    ("inside_a_head", {"inside": "Why √d_k", "inside_scale": "this checkpoint"}),
    ("positions", {"positions": "Adding"}),
    ("compare", {"compare_part": "Stream", "compare_stream": "token uniformity"}),
    ("compare", {"compare_part": "Stream", "compare_stream": "logits by layer"}),
    ("cost", {"cost_show": "four kinds of layer, measured"}),
    ("training", {"kind": "Digit", "training": "histories"}),
    ("attention", {"knock_out": "read as [MASK]"}),
]


@pytest.mark.parametrize(("page", "query"), LINKS, ids=lambda part: str(part))
def test_a_link_of_an_earlier_version_opens_what_it_named(open_app: Open, page: str, query: dict) -> None:
    controls = controls_of(page)
    today = {
        key: controls[key].former(value) for key, value in query.items() if hasattr(controls[key], "former")
    }
    former = {key for key, option in today.items() if option is not None}
    assert former
    app = open_app(PAGES[page].script, **query, forgiven=former)
    assert not app.exception
    for key in former:
        assert app.session_state[key] == today[key]


def test_what_is_chosen_later_stays(open_app: Open) -> None:
    app = open_app(PAGES["masks"].script, masks_kind="Key padding", forgiven=[MASK.key])
    app.segmented_control(key=MASK.key).set_value("Causal").run()
    assert app.session_state[MASK.key] == "Causal"


def test_pairs_over_a_data_set_had_a_name_with_the_number_of_examples() -> None:
    assert PAIRING.former("over 2,000 examples") == "alike over 2,000 examples"
    assert PAIRING.former("by number") == BY_NUMBER
    assert PAIRING.former("alike over 2,000 examples") is None
