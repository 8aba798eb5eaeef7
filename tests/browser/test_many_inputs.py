"""A list is pasted, sorted, opened from the keyboard, and gone through with the head kept."""

import re

from playwright.sync_api import expect

from tests.browser.acting import page_link, text_box
from tests.browser.watching import ready, visit

PASTED = (
    "text,label\nThe film is good.,positive\nA dull mess.,positive\n<img src=x onerror=alert(1)>,negative\n"
)


def test_a_list_is_gone_through(page):
    visit(page, "/?layer=2&head=1")
    page_link(page, "Many inputs").click()
    expect(page.locator(".st-key-many_table tbody tr")).not_to_have_count(0)  # the examples
    page.get_by_role("button", name="Your own list").click()
    page.get_by_role("textbox", name="Texts").fill(PASTED)
    page.get_by_role("button", name="Use these texts").click()
    rows = page.locator(".st-key-many_table tbody tr")
    expect(rows).to_have_count(3)
    expect(page.locator(".st-key-many_table")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("img[src=x]")).to_have_count(0)
    expect(rows.first).to_contain_text("A dull mess.")  # which is wrong
    second, third = (rows.nth(index).get_by_role("button") for index in (1, 2))
    names = [second.inner_text(), third.inner_text()]
    ready(page)  # or the rows are drawn once more, without the focus
    rows.first.get_by_role("button").focus()
    page.keyboard.press("ArrowDown")
    expect(second).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/\?.*layer=2"))
    text = text_box(page)
    expect(text).to_have_value(names[0])
    stepper = page.locator(".st-key-stepper")
    expect(stepper).to_contain_text("2 of 3")
    page.locator(".st-key-several_next button").first.click()
    expect(stepper).to_contain_text("3 of 3")
    expect(text).to_have_value(names[1])
    expect(page).to_have_url(re.compile(r"layer=2&head=1"))
    expect(page.get_by_role("combobox", name="Layer")).to_have_value("2")
    stepper.get_by_role("button", name="3 of 3").click()
    expect(page.locator(".st-key-many_table tr[aria-current]")).to_contain_text(names[1])
