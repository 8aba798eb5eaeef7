"""Tokens and patches are taken away and given back by clicks, strokes and keys, and the answer above follows."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from app_pages.masks.word_stroke import SCRIPT
from model import checkpoint
from model.capture import capture
from model.capture.intervention import MaskChoice, masked, without_keys
from tests.browser.acting import arrives, choose, mark, press
from tests.browser.server import ROOT
from tests.browser.watching import ready, rectangle, visit

SENTENCE = "The film is not good"


def token(page: Page, text: str) -> Locator:
    return page.locator(".st-key-masks_words .words button", has=page.get_by_text(text, exact=True))


def test_strokes_clicks_and_keys_hide_tokens_and_bring_them_back(page):
    visit(page, "/masks?checkpoint=imdb-pre-ln&text=The+film+is+not+good&query=2+film")
    press(page, token(page, "not"))
    expect(page.get_by_text("Without “not”, the prediction")).to_be_visible()
    arrives(page, r"[?&]masks_keys=4")

    first, last = rectangle(token(page, "is")), rectangle(token(page, "good"))
    page.mouse.move(first["x"] + 5, first["y"] + 10)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 10)
    expect(token(page, "good")).to_have_class("hidden")  # before the server hears of it
    expect(page).to_have_url(re.compile(r"[?&]masks_keys=4(&|$)"))
    record = capture(checkpoint.load(ROOT / "checkpoints" / "imdb-pre-ln"), SENTENCE, without_keys(3, 4, 5))
    shown = [
        float(button.get_attribute("data-weight") or "nan")
        for button in page.locator(".st-key-masks_words .words button").all()
    ]
    np.testing.assert_allclose(shown, record.pattern[0, 0, 2], atol=1e-6)  # of layer 0, and so exact
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"[?&]masks_keys=3\.4\.5"))
    expect(page.get_by_text("Without “is”, “not” and “good”, the prediction")).to_be_visible()

    ready(page)
    page.keyboard.press("ArrowLeft")  # the stroke began at “is”
    page.keyboard.press("Shift+ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]masks_keys=1\.2\.3\.4\.5"))
    page.get_by_role("button", name="Unblock all").click()
    expect(page.get_by_text("Nothing is masked")).to_be_visible()
    expect(token(page, "not")).to_have_attribute("aria-pressed", "false")
    choose(page, "Mask", "Causal")
    expect(token(page, "good")).to_have_class("hidden")
    press(page, token(page, "is"))
    expect(page).to_have_url(re.compile(r"[?&]query=3\+is"))


@pytest.mark.parametrize("name", ["imdb-pre-ln", pytest.param("imdb-post-ln", marks=pytest.mark.slow)])
def test_the_row_of_the_browser_is_that_of_the_encoder_in_layer_0(page, name):
    program = f"data:text/javascript,{SCRIPT.replace('%', '%25').replace('#', '%23')}"

    def row(scores: list[float], allowed: list[bool]) -> list[float]:
        arguments = f"{json.dumps(scores)}, {json.dumps(allowed)}"
        return page.evaluate(
            f"async program => (await import(program)).maskedRow({arguments})", program.replace("\n", "%0A")
        )

    assert row([np.log(1), np.log(2), np.log(5)], [True, False, True]) == pytest.approx([1 / 6, 0, 5 / 6])
    assert row([1.0, 2.0], [False, False]) == [0, 0]
    encoder = checkpoint.load(ROOT / "checkpoints" / name)
    plain, without = (capture(encoder, SENTENCE, change) for change in (without_keys(), without_keys(2, 4)))
    allowed = [key not in (2, 4) for key in range(len(plain))]
    for head, query in np.ndindex(plain.pattern.shape[1:3]):
        old = plain.pattern[0, head, query] * allowed
        shown = row(plain.scores[0, head, query].tolist(), allowed)
        np.testing.assert_allclose(shown, without.pattern[0, head, query], atol=1e-6)
        np.testing.assert_allclose(shown, old / old.sum(), atol=1e-5)


@pytest.mark.slow
def test_cells_patches_and_parts_are_in_the_address(page):
    visit(page, "/masks?kind=Digit&query=[CLS]")
    press(page, mark(page, "masks_patches", "r2c3"))
    expect(page.get_by_text("Without the patch in row 2, column 3, the prediction")).to_be_visible()
    choose(page, "Mask", "Block pairs")
    press(page, mark(page, "masks_board", "0 [CLS] to 18 r2c3"))
    expect(
        page.get_by_text("Where [CLS] does not see the patch in row 2, column 3, the prediction")
    ).to_be_visible()
    page.locator(".st-key-masks_part").get_by_text("Ways of masking").click()
    expect(page.get_by_text("A fully masked row")).to_be_visible()
    expect(page).to_have_url(re.compile(r"(?=.*masks_cells=0-18)(?=.*masks_part=)"))


# Presses the mark with this name and returns what stands over the board in the same moment: class and weight of each cell. Null
# until the board is drawn and listens, which it does after the script has ended.
PRESSED = """name => {
    const mark = document.querySelector(`.st-key-masks_board [aria-label^="${name}"]`);
    if (mark === null) return null;
    const { x, y, width, height } = mark.getBoundingClientRect();
    const place = { clientX: x + width / 2, clientY: y + height / 2, bubbles: true, button: 0 };
    const target = document.elementFromPoint(place.clientX, place.clientY);
    for (const kind of ["pointerdown", "pointerup"]) target.dispatchEvent(new PointerEvent(kind, place));
    const cells = [...document.querySelectorAll(".clicked-marks .cell")];
    return cells.length ? cells.map(cell => [cell.className, Number(cell.dataset.weight)]) : null;
}"""


@pytest.mark.parametrize(("layer", "is_exact"), [(0, True), pytest.param(1, False, marks=pytest.mark.slow)])
def test_a_click_on_a_pair_shows_its_row_at_once(page, layer, is_exact):
    visit(
        page,
        f"/masks?checkpoint=imdb-pre-ln&text=The+film+is+not+good&masks_kind=Block+pairs&query=2+film&layer={layer}&head=0",
    )
    classes, weights = zip(*page.wait_for_function(PRESSED, arg="2 film to 4 not").json_value(), strict=True)
    assert [("on" in name.split()) for name in classes] == [key == 4 for key in range(7)]
    assert all(("guess" in name.split()) != is_exact for name in classes)
    encoder = checkpoint.load(ROOT / "checkpoints" / "imdb-pre-ln")
    record = capture(encoder, SENTENCE, masked(MaskChoice(kind="cells", cells=((2, 4),))))
    remaining = capture(encoder, SENTENCE).pattern[layer, 0, 2] * (np.arange(7) != 4)
    np.testing.assert_allclose(weights, remaining / remaining.sum(), atol=1e-3)
    if is_exact:
        np.testing.assert_allclose(weights, record.pattern[layer, 0, 2], atol=1e-3)
    expect(page.get_by_text("Where “film” does not see “not”, the prediction")).to_be_visible()
    expect(page.locator(".clicked-marks")).to_have_count(0)
    expect(mark(page, "masks_board", "2 film to 4 not, masked")).to_be_attached()
