"""Side by side, Similarity: the patches of two pictures answer the pointer, in the browser alone."""

import numpy as np
from PIL import ImageColor
from playwright.sync_api import Page

from app_pages.subject import shipped_inputs
from app_pages.subject.subject import LiveSubject
from model.inputs import Picture
from model.similarity.patch_similarity import patch_similarity
from tests.browser.acting import arrives
from tests.browser.watching import ready, rectangle, visit
from viz.builders.palette import FALLS, RISES

ADDRESS = (
    "/compare?kind=Digit&checkpoint=mnist-pre-ln&compare_what=two+inputs&compare_part=Similarity"
    "&similarity_view=one+patch&digit=0&compare_digit=1&layer=0"
)
TOP, GAP, BELOW, GRID = (
    52,
    16,
    20,
    7,
)  # pixels of the chart, the last of them Streamlit's padding, and rows of patches
CORNERS = 0, 6, 42, 48, 49, 55  # patches of both digits without ink
# Where a place lies in the chart, and its pixel; a place is a picture, 0 or 1, and shares of its side, which grows with the window.
WHERE = f"""([picture, x, y]) => {{
  const canvas = document.querySelector(".st-key-patch_map canvas");
  const side = Math.min(canvas.clientHeight - {TOP + BELOW}, (canvas.clientWidth - {GAP}) / 2);
  return [picture * (side + {GAP}) + x * side, {TOP} + y * side];
}}"""
PIXEL = f"""position => {{
  const canvas = document.querySelector(".st-key-patch_map canvas");
  const scale = canvas.width / canvas.clientWidth;
  const [x, y] = ({WHERE})(position).map(length => Math.round(length * scale));
  return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data];
}}"""


def centre(patch: int) -> tuple[int, float, float]:
    """The middle of a patch: its picture, and how far across and down it lies, from 0 to 1."""
    picture, index = divmod(patch, GRID**2)
    row, column = divmod(index, GRID)
    return picture, (column + 0.5) / GRID, (row + 0.5) / GRID


def point_at(page: Page, patch: int) -> None:
    box = rectangle(page.locator(".st-key-patch_map canvas").first)
    x, y = page.evaluate(WHERE, centre(patch))
    page.mouse.move(box["x"] + x, box["y"] + y)


def pixel_of(cosine: float) -> list[float]:
    """The colour of a cosine on a white page: from grey, clear at 0, to one that is half clear at half of the scale."""
    strength = abs(cosine)
    solid = np.array(ImageColor.getrgb(FALLS if cosine < 0 else RISES))
    mixed = 128 + (solid - 128) * min(1, 2 * strength)
    return (255 + (mixed - 255) * strength).tolist()


def shows(page: Page, patch: int, cosines: np.ndarray) -> None:
    """Waits until the patches in the corners have the colours of their cosines with the patch."""
    page.wait_for_function(
        f"""corners => corners.every(([place, colour]) => {{
          const pixel = ({PIXEL})(place);
          return colour.every((value, index) => Math.abs(pixel[index] - value) < 6);
        }})""",
        arg=[[centre(corner), pixel_of(cosines[patch, corner])] for corner in CORNERS if corner != patch],
    )


def test_patches_follow_the_pointer_without_the_server_and_a_click_keeps_one(page):
    images, _ = shipped_inputs.test_digits()
    first, second = (LiveSubject("mnist-pre-ln", Picture.of(images[digit])).record for digit in (0, 1))
    between = patch_similarity(first, 0, second)
    cosines = np.block([[patch_similarity(first, 0), between], [between.T, patch_similarity(second, 0)]])
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    visit(page, ADDRESS)
    shows(page, 24, cosines)
    before, url = len(sent), page.url
    assert before
    for patch in (0, 70, 27):
        point_at(page, patch)
        shows(page, patch, cosines)
    page.mouse.move(2, 2)
    shows(page, 24, cosines)
    assert (len(sent), page.url) == (before, url)
    point_at(page, 70)
    page.mouse.down()
    page.mouse.up()
    arrives(page, r"similar_patch=r3c0")
    page.mouse.move(2, 2)
    shows(page, 70, cosines)
    page.reload()
    ready(page)
    shows(page, 70, cosines)
