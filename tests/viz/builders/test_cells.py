import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert

from tests.viz.scene import drawn, numbers_in_cells, scene
from tests.viz.vision import contrast, rgb
from viz.builders.cells import casing_layer, entropy_change, formation_map, frame_layers, head_axis, head_grid
from viz.builders.chart import Column, chart
from viz.builders.palette import ACCENT, WEIGHTS
from viz.builders.theme import CASING

VALUES = np.array([[0.5, -0.25], [np.nan, 0.0], [0.1, 0.2]])


def test_each_number_carries_its_letter():
    chart = (
        alt.Chart(pd.DataFrame({"layer": [0, 1, 2]}))
        .mark_rect()
        .encode(y=alt.Y("layer:O", axis=head_axis("L", orient="left")))
    )
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    assert all(f">{name}<" in svg for name in ("L0", "L1", "L2"))


def lines(*layers, dark, **columns):
    figure = chart([Column(name, values) for name, values in columns.items()], *layers, width=100, height=100)
    view = scene(figure, dark=dark)["items"][0]
    return [item for mark in view["items"] if mark["role"] == "mark" for item in mark["items"]]


@pytest.mark.parametrize("dark", [True, False])
def test_a_frame_stands_out_from_its_casing_on_every_colour_of_a_weight(dark):
    under, frame = lines(*frame_layers({}, "frame", 2), dark=dark, a=[1])
    assert (frame["stroke"], frame["strokeWidth"]) == (ACCENT, 2)
    assert contrast(frame["stroke"], under["stroke"]) >= 3
    assert under["strokeWidth"] == 2 + CASING


def test_only_what_is_selected_has_a_casing():
    unders = lines(casing_layer({"x": "selected:N"}, 3), dark=False, selected=[False, True])
    assert [item["strokeOpacity"] for item in unders] == [0, 1]


def grid(values=VALUES, **options):
    options = {"selected": (2, 0), "title": ["change", "b minus a"], "signed": True} | options
    return head_grid(values, **options)


def test_every_head_has_its_number_in_its_place():
    assert numbers_in_cells(grid()) == {
        "L0 H0": "+0.50", "L0 H1": "−0.25", "L1 H0": "–", "L1 H1": "0.00", "L2 H0": "+0.10", "L2 H1": "+0.20",
    }  # fmt: skip


def test_hover_says_the_pair_and_the_exact_value():
    notes = [f"note {number}" for number in range(6)]
    by_name = grid(notes=notes).frame.set_index("name")
    assert (by_name.loc["L0 H1", "exact"], by_name.loc["L0 H1", "note"]) == ("−0.25", "note 1")
    assert by_name.loc["L1 H0", "exact"] == "no partner"


def test_small_values_are_written_in_a_smaller_unit():
    figure = grid(VALUES / 1000)
    assert {"+0.50", "−0.25"} < set(figure.frame["written"])
    assert "thousandths" in str(figure.specification["title"])


BEFORE, AFTER = np.array([[0.5, 0.5, 0.2], [0.5, 0.5, 0.5]]), np.array([[0.3, 0.9, 0.2], [0.5, 0.5, 0.5]])


def test_less_is_purple_more_is_gold_and_nothing_is_clear():
    cells, texts, cover = drawn(entropy_change(BEFORE, AFTER, selected=(1, 2)))
    fill = {above["description"]: cell["fill"] for cell, above in zip(cells, cover, strict=True)}
    assert fill["L0 H1"] == "rgb(154, 130, 0)"
    assert fill["L0 H2"].endswith(", 0)")
    assert fill["L0 H0"].startswith("rgba(166, 60, 196, ")
    assert sorted(text["text"] for text in texts) == sorted(["−0.200", "+0.400", *["0.000"] * 4])


@pytest.mark.parametrize(
    "figure",
    [
        grid(np.array([[2e-7, -1e-7]]), selected=(0, 0)),
        entropy_change(BEFORE, BEFORE + 1e-9, selected=(0, 0)),
    ],
)
def test_rounding_has_no_colour(figure):
    cells, *_ = drawn(figure)
    opacity = [float(cell["fill"].rstrip(")").split(",")[-1]) for cell in cells]
    assert max(opacity) < 1e-6


STEPS = np.array([[0, 5], [1200, 9]])


def test_every_head_says_its_step():
    chart = formation_map(STEPS, among=STEPS, title="pre-LN")
    rects, texts, _ = drawn(chart)
    assert len(rects) == 4
    assert [item["text"] for item in texts] == ["0", "5", "1.2k", "9"]
    steps = chart.frame.set_index("name")["step"].to_dict()
    assert steps == {"L0 H0": 0, "L0 H1": 5, "L1 H0": 1200, "L1 H1": 9}


def test_what_formed_later_is_drawn_in_more_ink():
    steps = np.array([[400, 1999]])
    rects, *_ = drawn(formation_map(steps, among=steps))
    assert rgb(*(item["fill"] for item in rects)).tolist() == rgb(WEIGHTS[0], WEIGHTS[-1]).tolist()


def test_colours_follow_the_order_among_all_heads_compared():
    others = np.array([[10, 50_000, 50_000, 58_000]])
    assert formation_map(np.array([[50_000, 58_000]]), among=others).frame["late"].tolist() == [0.5, 1]


def test_one_step_alone_is_drawn():
    rects, texts, _ = drawn(formation_map(np.array([[7]]), among=np.array([[7]])))
    assert (len(rects), texts[0]["text"]) == (1, "7")
