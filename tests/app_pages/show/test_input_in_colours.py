from dataclasses import replace

import numpy as np
import pytest

from app_pages.show import input_in_colours as widget
from app_pages.toolkit.expression import Expression, named
from model.capture import capture
from model.record import AttentionRecord
from model.record.from_arrays import from_arrays
from tests.model import tiny
from viz.builders.figure import VegaFigure
from viz.builders.palette import TO_ONE

IMAGE = np.zeros((8, 8), np.uint8)
TEXT = capture(tiny.loaded(tiny.TEXT), "not great film")
DIGIT = capture(tiny.loaded(tiny.DIGIT), IMAGE)
WITHOUT_CLASS = capture(tiny.loaded(replace(tiny.DIGIT, pooling="mean", n_positions=4)), IMAGE)


def expression_of(value: object) -> Expression:
    return named("value", value)


def shown(
    monkeypatch: pytest.MonkeyPatch, record: AttentionRecord, query: int
) -> tuple[VegaFigure, dict, list[int]]:
    """The chart, how it was put up, and what a click on its mark 1 took."""
    put_up, taken = [], []
    monkeypatch.setattr(widget, "clickable", lambda chart, **options: put_up.append((chart(), options)))
    picture, source = None if record.patch_grid is None else expression_of(IMAGE), expression_of(record)
    weights = source.pattern[0, 0, query]
    widget.input_in_colours(picture, source, weights, query=query, scale=TO_ONE, key="x", take=taken.append)
    ((chart, options),) = put_up
    options["take"]({"position": 1.0})
    return chart, options, taken


def outlined(chart: VegaFigure) -> list[int]:
    return chart.frame["position"][chart.frame["selected"]].tolist()


@pytest.mark.parametrize(
    ("record", "query", "outline", "position"),
    [
        (TEXT, 2, [2], 1),
        (DIGIT, 0, [], 2),  # the class token has no place
        (DIGIT, 3, [2], 2),
        (WITHOUT_CLASS, 3, [3], 1),
    ],
)
def test_marks_and_clicks_stand_for_positions(monkeypatch, record, query, outline, position):
    chart, options, taken = shown(monkeypatch, record, query)
    assert outlined(chart) == outline
    assert taken == [position]
    assert (options["key"], options["chosen"]) == ("x", query)
    assert options["selection"] == ("token" if record is TEXT else "patch")


@pytest.mark.parametrize(
    ("record", "message"), [(TEXT, []), (DIGIT, [f"{DIGIT.pattern[0, 0, 3, 0]:.3f}"]), (WITHOUT_CLASS, [])]
)
def test_what_a_digit_leaves_out_is_said(monkeypatch, record, message):
    captions = []
    monkeypatch.setattr(widget.st, "caption", captions.append)
    shown(monkeypatch, record, 3)
    assert [caption.rpartition(" ")[2] for caption in captions] == message


@pytest.mark.parametrize(("n_after", "captions"), [(2, 3), (8, 1)])
def test_tokens_after_the_patches_are_said_one_by_one_or_in_sum(monkeypatch, n_after, captions):
    n = 5 + n_after
    record = from_arrays(
        np.full((1, 1, n, n), 1 / n),
        ["[CLS]", *"abcd", *(f"[detection {index + 1}]" for index in range(n_after))],
        roles=["class", *["patch"] * 4, *["special"] * n_after],
        patch_grid=(2, 2),
    )
    message: list[str] = []
    monkeypatch.setattr(widget.st, "caption", message.append)
    chart, _, taken = shown(monkeypatch, record, n - 1)
    assert (len(chart.frame), outlined(chart), taken) == (4, [], [2])
    assert len(message) == captions
    weight = 1 / n if captions > 1 else (n_after + 1) / n
    assert message[-1].endswith(f"not part of the picture: {weight:.3f}")


def test_a_coloured_picture_is_handed_over_in_its_colours(monkeypatch):
    coloured, drawn = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8), []
    record = capture(tiny.loaded(replace(tiny.DIGIT, n_channels=3)), coloured)
    monkeypatch.setattr(widget, "query_on_picture", lambda _, image, *__, **___: drawn.append(image))
    monkeypatch.setattr(widget, "clickable", lambda chart, **_: chart())
    source = expression_of(record)
    widget.input_in_colours(
        expression_of(coloured), source, source.pattern[0, 0, 1], query=1, scale=TO_ONE, key="x"
    )
    np.testing.assert_array_equal(drawn, [coloured])
