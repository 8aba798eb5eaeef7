"""What a click on a mark of a figure, or a step of the slider beside it, chooses: it is in the address, and a sentence follows."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.acting import mark, press
from tests.browser.watching import ready, visit

pytestmark = pytest.mark.slow

ABLATE = "/heads?heads_part=Ablate&checkpoint=imdb-pre-ln&text=The+film+is+not+good"
NOTHING = r"^(?!.*ablated)"
WHY = "/inside_a_head?inside=Why+√d_k"
OWN = "/positions?kind=Digit&positions=This+encoder"
TRY = "/positions?positions=Experiments&text=it+is+not+a+bad+film&positions_try_seed=5"
SHIFTS = "/positions?kind=Digit&positions=Experiments&positions_try=shift+the+positions"
EMBEDDINGS = "/positions?positions=Embeddings&text=it+is+not+a+bad+film"
Step = tuple[
    Callable[[Page], None], str, str
]  # what is done, the address (a regular expression), what is seen then


def on(key: str, name: str) -> Callable[[Page], None]:
    return lambda page: press(page, mark(page, key, name))


def button(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("button", name=name).click()


def key(name: str, slider: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("slider", name=re.compile(slider)).press(name)


def text(words: str) -> str:
    """Selector of a text that is seen."""
    return f"text={words} >> visible=true"


def clock(turns: str) -> str:
    """Selector of the fastest clock, which says of itself where its hand is."""
    return f'[aria-label="clock 0: {turns} turns"]'


STEPS: dict[str, tuple[str, list[Step]]] = {
    "a head is taken away and given back, twice": (
        ABLATE,
        [
            (on("ablate_grid", "L1 H2"), "[?&]ablated=h1-2", text("Without L1 H2, the prediction")),
            (on("ablate_grid", "L1 H2"), NOTHING, text("Nothing is taken away")),
        ]
        * 2,
    ),
    "a part and a token, undone": (
        ABLATE,
        [
            (
                on("ablate_grid", "L3 FF"),
                "ablated=f3",
                text("Without the feed-forward of L3, the prediction"),
            ),
            (
                on("ablate_input", "not"),
                r"ablated=f3\.p4",
                text("Without the feed-forward of L3 and “not”, the"),
            ),
            (button("Undo"), r"ablated=f3(&|$)", text("Without the feed-forward of L3, the prediction")),
            (button("Put all back"), NOTHING, text("Nothing is taken away")),
        ],
    ),
    "a point of a head": (
        f"{WHY}&inside_scale=this+encoder",
        [(on("inside_own_variance", "L2 H1"), "(?=.*layer=2)(?=.*head=1)", text("L2 H1 on this input"))],
    ),
    "a temperature": (
        f"{WHY}&inside_scale=temperature",
        [
            (on("inside_curve", "10"), "inside_temperature=10", text("At T = 10")),
            (key("ArrowRight", "Temperature T"), "inside_temperature=20", text("At T = 20")),
        ],
    ),
    # dots may lie on each other, and then the upper one is clicked
    "an order": (
        "/positions?kind=Digit&positions=Experiments",
        [(on("positions_try_orders", "with positions, seed 5"), r"positions_try_seed=\d+", "h1")],
    ),
    # the token chosen where it is read second is the query where it is read first
    "a token where it is read second": (
        TRY,
        [(on("positions_try_input_second", "bad"), r"[?&]query=5\+bad", "h1")],
    ),
    "a shift": (
        SHIFTS,
        [
            (on("positions_try_shifts", "shift 9"), "positions_try_shift=9", text("Shifted by 9")),
            (key("ArrowRight", "Shift"), "positions_try_shift=10", text("Shifted by 10")),
        ],
    ),
    "a patch and its position": (
        OWN,
        [
            (on("positions_own_grid", "r2c4"), "[?&]query=r2c4", text("The position of r2c4")),
            (on("positions_own_map", "r5c1"), "[?&]query=r5c1", text("The position of r5c1")),
        ],
    ),
    "a vector": (
        EMBEDDINGS,
        [
            (
                on("positions_map", "film"),
                r"[?&]query=6\+film",
                '.st-key-positions_map [aria-label*="film is chosen"]',
            )
        ],
    ),
    "a position": (
        "/positions",
        [(key("ArrowRight", "Position t"), "positions_t=11", clock("1.751"))],  # 11 / 2 pi
    ),
    # a longer table keeps the position, and a shorter one its last
    "lengths of the table": (
        "/positions?positions_t=50",
        [
            (key("ArrowRight", "Length in positions"), "positions_length=256", clock("7.958")),
            (key("ArrowLeft", "Length in positions"), r"^(?!.*positions_length)", clock("7.958")),
            (key("ArrowLeft", "Length in positions"), "positions_length=64", clock("7.958")),
            (key("ArrowLeft", "Length in positions"), "positions_length=32", clock("4.934")),
        ],
    ),
}


@pytest.mark.parametrize(("address", "steps"), STEPS.values(), ids=STEPS)
def test_a_click_chooses(page, address, steps):
    visit(page, address)
    for act, url, seen in steps:
        ready(page)
        act(page)
        expect(page).to_have_url(re.compile(url))
        expect(page.locator(seen).first).to_be_attached()
