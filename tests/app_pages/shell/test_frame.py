import pytest

from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.masks_controls import BLOCKED_KEYS
from app_pages.controls.pages import ATTENTION, MASKS, READING, THEORY, Page
from app_pages.subject import cache
from model import capture
from tests.first_run import container_keys


@pytest.mark.parametrize("page", [ATTENTION, MASKS])
def test_a_page_without_enough_memory_says_so_in_one_sentence(open_app, monkeypatch, page):
    cache.clear()
    monkeypatch.setattr(capture, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(capture, "available_memory", lambda: 1000)
    app = open_app(page, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
    assert not app.exception
    (message,) = (error.value for error in app.error)
    assert message.startswith(
        "This page needs more memory than there is: a forward pass over 5 positions in 2 × 2 heads"
    )


def test_a_second_record_that_has_no_room_is_said_to_have_none(open_app, monkeypatch):
    start = (KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))
    cache.clear()
    monkeypatch.setattr(capture, "UNCHECKED_BYTES", 0)
    free = iter([10**9])
    monkeypatch.setattr(capture, "available_memory", lambda: next(free, 0))
    app = open_app(MASKS, *start, BLOCKED_KEYS.to("1"))
    assert not app.exception
    assert [error.value.split(":")[0] for error in app.error] == ["This page needs more memory than there is"]


def test_a_new_page_stands_where_the_one_before_it_does_not(open_app):
    app = open_app(THEORY)

    def place(page: Page) -> int:
        children = app.main.children.items()
        (index,) = (i for i, child in children if f"page_{page.name}" in getattr(child.proto, "id", ""))
        assert "heading" in container_keys(app.main.children[index])
        return index

    first = place(THEORY)
    app.run()
    assert place(THEORY) == first
    app.switch_page(READING.script).run()
    assert place(READING) != first
    assert app.main.children[first].type == "empty"
