from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.shell.former_links import RENAMED

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
    former = {key for key, value in query.items() if value in RENAMED.get(key, ())}
    assert former
    app = open_app(f"app_pages/{page}/page.py", **query, forgiven=former)
    assert not app.exception
    for key in former:
        assert app.session_state[key] == RENAMED[key][query[key]]


def test_what_is_chosen_later_stays(open_app: Open) -> None:
    app = open_app("app_pages/masks/page.py", masks_kind="Key padding", forgiven=["masks_kind"])
    app.segmented_control(key="masks_kind").set_value("Causal").run()
    assert app.session_state["masks_kind"] == "Causal"
