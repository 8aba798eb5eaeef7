"""All heads answer the pointer in the browser; what is clicked stays, is in the address, and is of the text that is shown."""

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, WebSocket, expect

from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from model.record import ForwardRecord
from tests.browser import linked_chart
from tests.browser.acting import arrives, write
from tests.browser.linked_chart import (
    canvas,
    point_at_head,
    point_at_row,
    token,
    tokens,
    told,
    wait_until_told,
)
from tests.browser.watching import ready, visit
from viz.attention.linked_data import TOP

LONG = "I expected to be bored, but I was not bored for a single minute."
SHORT = "a great film"


@pytest.mark.slow
def test_a_chart_that_comes_long_after_its_tokens_hears_clicks(page):
    visit(page, "/?view=lines&layer=0&head=0")
    page.clock.install()
    token(page, 1).click()
    arrives(page, r"[?&]query=1")
    page.clock.run_for(10_000)
    page.get_by_role("radio", name="matrix", exact=True).click()
    linked_chart.click_head(page, 1, 2)
    expect(page).to_have_url(re.compile(r"[?&]layer=1&.*head=2"))


def test_pointing_is_answered_without_the_server(page):
    sent: list[object] = []

    def watch(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", watch)
    visit(page, "/?text=a+great+film&checkpoint=imdb-pre-ln")
    wait_until_told(page, query=2)  # the longest word
    expect(page).to_have_url(re.compile("coloured_by="))  # the address is whole
    before, url = len(sent), page.url
    assert before
    token(page, 1).hover()
    wait_until_told(page, over_query=1)
    has_weights(page, SHORT, query=1)
    point_at_head(page, 2, 1)
    wait_until_told(page, over_layer=2, over_head=1, over_query=None)
    point_at_row(page, 3)
    wait_until_told(page, over_query=3, over_layer=None)
    has_weights(page, SHORT, query=3)
    page.mouse.move(2, 2)
    wait_until_told(page, over_query=None, over_layer=None)
    assert (len(sent), page.url) == (before, url)
    assert [told(page)[name] for name in ("layer", "head", "query")] == [0, 0, 2]


def test_a_click_keeps_what_is_pointed_at_and_says_so(page):
    page.goto("/?text=a+great+film&checkpoint=imdb-pre-ln")
    linked_chart.click_head(page, 2, 1)
    expect(page).to_have_url(re.compile(r"layer=2.*head=1|head=1.*layer=2"))
    wait_until_told(page, layer=2, head=1, query=2)
    says(page, 2, 1, 2)
    token(page, 3).click()
    expect(page).to_have_url(re.compile(r"[?&]query=3\+film"))
    says(page, 2, 1, 3)
    expect(token(page, 3)).to_have_attribute("aria-pressed", "true")
    linked_chart.click_row(page, 2)
    expect(page).to_have_url(re.compile(r"[?&]query=2\+great"))
    says(page, 2, 1, 2)


@pytest.mark.slow
def test_what_is_shown_is_always_of_the_text_and_encoder_in_the_address(page):
    """Under one key a selection outlives the data that it was made on: a shorter text once kept its query."""
    visit(page, f"/?checkpoint=imdb-pre-ln&text={LONG.replace(' ', '+')}")
    n = len(record(page, LONG).tokens)
    expect(tokens(page)).to_have_count(n)
    token(page, n - 2).click()
    expect(page).to_have_url(re.compile(rf"[?&]query={n - 2}\+"))
    agrees(page, LONG)
    write(page, SHORT)
    expect(tokens(page)).to_have_count(5)
    agrees(page, SHORT)
    page.locator(".st-key-checkpoint input").click()
    page.get_by_role("option", name="imdb-post-ln").click()
    expect(page).to_have_url(re.compile("checkpoint=imdb-post-ln"))
    agrees(page, SHORT)
    page.go_back()  # to before the click: what is typed or chosen in a box is no step of its own
    expect(tokens(page)).to_have_count(n)
    agrees(page, LONG)
    page.go_forward()
    expect(tokens(page)).to_have_count(5)
    expect(page).to_have_url(re.compile("checkpoint=imdb-post-ln"))
    agrees(page, SHORT)


def test_by_keyboard_alone(page):
    visit(page, "/?text=a+great+film&checkpoint=imdb-pre-ln")
    wait_until_told(page, query=2)
    token(page, 2).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(token(page, 0)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(token(page, 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]query=1\+a"))
    says(page, 0, 0, 1)
    ready(page)
    expect(token(page, 1)).to_be_focused()
    page.locator(".st-key-all_heads_chart").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"layer=1.*head=1|head=1.*layer=1"))
    says(page, 1, 1, 1)
    page.keyboard.press("Shift+ArrowDown")
    expect(page).to_have_url(re.compile(r"[?&]query=2\+great"))
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    wait_until_told(page, over_query=2, over_key=1)
    weight = LiveSubject("imdb-pre-ln", Text(SHORT)).record.pattern[1, 1, 2, 1]
    expect(linked_chart.announced(page)).to_have_text(f"key 1 a, weight {weight:.2f}.")
    page.keyboard.press("Escape")
    wait_until_told(page, over_query=None, over_key=None, layer=1, head=1, query=2)


@pytest.mark.slow
def test_a_patch_of_a_digit_is_pointed_at_and_chosen(page):
    visit(page, "/?kind=Digit&digit=3")
    wait_until_told(page, query=0)
    expect(tokens(page)).to_have_text(["[CLS]"])
    point_at_row(page, 15)
    wait_until_told(page, over_query=15)
    linked_chart.click_row(page, 15)
    expect(page).to_have_url(re.compile(r"[?&]query=r\dc\d"))
    wait_until_told(page, query=15)
    token(page, 0).click()
    expect(page).to_have_url(re.compile(r"[?&]query=%5BCLS%5D"))
    wait_until_told(page, query=0)


def chosen(page: Page) -> tuple[int, int, int]:
    """Layer, head and query, as the address says."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    return int(query.get("layer", 0)), int(query.get("head", 0)), int(query.get("query", "0").split()[0])


def record(page: Page, text: str) -> ForwardRecord:
    name = parse_qs(urlsplit(page.url).query).get("checkpoint", ["imdb-pre-ln"])[0]
    return LiveSubject(name, Text(text)).record


def has_weights(page: Page, text: str, query: int) -> None:
    """Waits until the chart is told the weights of this query in all heads; they may differ by the last digit."""
    weights = np.rint(record(page, text).pattern[:, :, query].astype(float) * TOP).astype(int).ravel()
    page.wait_for_function(
        """weights => {
          const told = document.body.value.all_heads.weights;
          return told.length === weights.length && weights.every((weight, i) => Math.abs(weight - told[i]) <= 2);
        }""",
        arg=weights.tolist(),
    )


def says(page: Page, layer: int, head: int, query: int) -> None:
    """Checks what a screen reader says: the head, the query and the strongest key with its weight."""
    maps = record(page, SHORT)
    weights = maps.pattern[layer, head, query]
    key = int(weights.argmax())
    sentence = f"L{layer} H{head}, query {maps.labels[query]}: {maps.labels[key]} {weights[key]:.2f}"
    expect(linked_chart.announced(page)).to_contain_text(sentence)


def agrees(page: Page, text: str) -> None:
    """Checks that the chart is told what the address says, with the weights of the record of this text."""
    ready(page)
    layer, head, query = chosen(page)
    assert query < len(record(page, text).tokens)
    wait_until_told(page, layer=layer, head=head, query=query)
    has_weights(page, text, query)
    expect(canvas(page)).to_be_visible()
