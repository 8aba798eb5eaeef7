"""The linked chart of all heads: what its script tells it, and the pointer over its parts.

The `key` of a chart is "all_heads" on Attention, "heads_first" or "heads_second" on Side by side.
"""

from typing import Any

from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser.watching import ready, rectangle

# After the chart has answered the last move of the pointer.
_TOLD = """key => new Promise(resolve => {
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.body.value?.[key] ?? {})))
})"""
_STEP = 14  # pixels; no part that is pointed at is smaller
_ROUNDS = 3
_FIRST = 60  # pixels below the chart's upper edge: within the first row of small maps


def told(page: Page, key: str = "all_heads") -> dict[str, Any]:
    """What the chart is told: the head and query that are chosen and pointed at, and the weights of that query."""
    return page.evaluate(_TOLD, key)


def wait_until_told(page: Page, key: str = "all_heads", **values: object) -> None:
    """Waits until the chart is told these values; None stands for one that it is not told."""
    page.wait_for_function(
        """([key, values]) => {
          const told = document.body.value?.[key];
          return told && Object.entries(values).every(([name, value]) => (told[name] ?? null) === value);
        }""",
        arg=[key, values],
    )


def canvas(page: Page, key: str = "all_heads") -> Locator:
    return page.locator(f".st-key-{key}_chart canvas").first


def tokens(page: Page, key: str = "all_heads") -> Locator:
    """The buttons of the tokens."""
    return page.locator(f".st-key-{key}_tokens .tokens button")


def token(page: Page, position: int, key: str = "all_heads") -> Locator:
    return tokens(page, key).nth(position)


def announced(page: Page, key: str = "all_heads") -> Locator:
    """What a screen reader says after a choice."""
    return page.locator(f".st-key-{key}_tokens .announced")


def point_at_head(page: Page, layer: int, head: int, key: str = "all_heads") -> tuple[float, float]:
    """Moves the pointer to that small map; returns where it is then, in pixels from the chart's upper left corner."""
    x, _ = _search(page, key, lambda over: over.get("over_head") == head and "over_layer" in over)
    return _search(
        page, key, lambda over: (over.get("over_layer"), over.get("over_head")) == (layer, head), x=x
    )


def point_at_row(page: Page, query: int, key: str = "all_heads") -> tuple[float, float]:
    """Moves the pointer to that row of the large map, or to that patch in the first column of a picture.

    Returns where it is then, in pixels from the chart's upper left corner.
    """
    x = 0
    for pixel in range(0, int(_box(page, key)["width"]), _STEP):
        over = _over(page, key, pixel, _FIRST + 60)
        if "over_query" in over:  # a name of a row, or the first of its cells, or a patch
            x = pixel
        if "over_key" in over or ("over_query" in over and not tokens_beside(page, key)):
            break
    return _search(page, key, lambda over: over.get("over_query") == query, x=x + 6)


def tokens_beside(page: Page, key: str) -> bool:
    """Whether the chart is one of tokens, with names beside its rows, and not of a picture."""
    return tokens(page, key).count() > 3


def click_head(page: Page, layer: int, head: int, key: str = "all_heads") -> None:
    _settle(page, key)
    point_at_head(page, layer, head, key)
    page.mouse.down()
    page.mouse.up()


def click_row(page: Page, query: int, key: str = "all_heads") -> None:
    _settle(page, key)
    point_at_row(page, query, key)
    page.mouse.down()
    page.mouse.up()


def _settle(page: Page, key: str) -> None:
    ready(page)  # or the chart may be replaced under the pointer
    expect(canvas(page, key)).to_be_visible()
    # The canvas is sought each time anew: one that was found may be replaced before it is scrolled to.
    page.wait_for_function(
        """key => {
          const canvas = document.querySelector(`.st-key-${key}_chart canvas`);
          canvas?.scrollIntoView({ block: "nearest" });
          return canvas && document.body.value?.[key]?.stamp;
        }""",
        arg=key,
    )


def _box(page: Page, key: str) -> FloatRect:
    return rectangle(canvas(page, key))


def _over(page: Page, key: str, x: float, y: float) -> dict[str, int]:
    """What is pointed at that many pixels from the chart's upper left corner."""
    box = _box(page, key)
    page.mouse.move(box["x"] + x, box["y"] + y)
    return {name: value for name, value in told(page, key).items() if name.startswith("over_")}


def _search(page: Page, key: str, is_it: Any, x: float | None = None) -> tuple[float, float]:
    """Moves the pointer from left to right or, at `x`, downwards, until it is over what is sought.

    On a busy machine the chart may be drawn anew meanwhile, and answers then to the next round alone.
    """
    for _round in range(_ROUNDS):
        _settle(page, key)
        box = _box(page, key)
        end = box["width"] if x is None else box["height"]
        for pixel in range(_STEP // 2, int(end), _STEP):
            point = (pixel, _FIRST) if x is None else (x, pixel)
            if is_it(_over(page, key, *point)):
                # A little further, away from the border.
                further = (pixel + 4, _FIRST) if x is None else (x, pixel + 4)
                if is_it(_over(page, key, *further)):
                    return further
    raise AssertionError("it is not in the chart")
