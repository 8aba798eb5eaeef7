import numpy as np
import pytest

from tests.viz.records import head_record
from tests.viz.scene import drawn
from tests.viz.vision import rgb
from viz.attention.head_view import MOST_HEADS, weight_lines
from viz.builders.palette import ACCENT, CATEGORIES, WEIGHTS

TOKENS = ["[CLS]", "good", "film", "good"]
PATTERN = np.array([[0.1, 0.6, 0.3, 0], [1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0, 0.5, 0, 0.5]])


def view_of(pattern, tokens, *, keys=None, numbers=None, **options):
    record = head_record(pattern, tokens, keys=keys, numbers=numbers)
    return weight_lines(record, {"L0 H0": record.pattern[0, 0]}, **{"query": None} | options)


def random_pattern(n):
    scores = np.random.default_rng(0).normal(size=(n, n))
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def test_every_weight_above_zero_is_a_line():
    view = view_of(PATTERN, TOKENS, query=None)
    assert (view.n_lines, view.n_all, view.share) == (10, 10, 1.0)
    assert len(drawn(view.chart)[0]) == 10


def test_a_chosen_query_shows_its_lines_alone():
    view = view_of(PATTERN, TOKENS, query=3)
    assert (view.n_lines, view.n_all, view.share) == (2, 2, 1.0)
    rules, texts, _ = drawn(view.chart)
    heights = {text["text"]: text["y"] for text in texts if text["align"] == "right"}
    assert {rule["y"] for rule in rules} == {heights["good"]}


def test_lines_run_from_the_query_on_the_left_to_the_key_on_the_right():
    rules, texts, _ = drawn(view_of(np.array([[0, 1.0], [0, 0]]), ["a", "b"], query=None).chart, width=500)
    (rule,) = rules
    by_text = {(text["text"], text["align"]): text for text in texts}
    query, key = by_text["a", "right"], by_text["b", "left"]
    assert (rule["y"], rule["y2"]) == (query["y"], key["y"])
    assert query["x"] < rule["x"] < rule["x2"] < key["x"] < 500


def test_equal_tokens_have_rows_of_their_own():
    _, texts, _ = drawn(view_of(PATTERN, TOKENS, query=None).chart)
    assert len({text["y"] for text in texts if text["text"] == "good"}) == 2


def test_the_strongest_line_has_the_most_ink_and_lies_on_top():
    rules, _, _ = drawn(view_of(PATTERN, TOKENS, query=None).chart)
    strokes = rgb(*(rule["stroke"] for rule in rules)).tolist()
    assert strokes[-1] == rgb(WEIGHTS[-1])[0].tolist()
    assert strokes.count(strokes[-1]) == 1


def test_both_columns_can_be_clicked_and_the_chosen_query_is_outlined():
    chart = view_of(PATTERN, TOKENS, query=1).chart
    _, texts, cover = drawn(chart, width=500)
    assert len(cover) == 8
    assert [index for index, row in enumerate(cover) if row["stroke"] == ACCENT] == [1]
    assert [text["text"] for text in texts if text["fontWeight"] == "bold"] == ["good"]


@pytest.mark.parametrize(("n", "token"), [(3, "great"), (17, "incomprehensible-indeed"), (256, "a")])
def test_rows_stay_legible_and_apart(n, token, monkeypatch):
    monkeypatch.setattr("viz.attention.head_view.MOST_LINES", 50)
    view = view_of(random_pattern(n), [token] * n, query=None)
    _, texts, _ = drawn(view.chart, width=400)
    heights = sorted({text["y"] for text in texts})
    assert len(heights) == n + 1
    assert min(np.diff(heights)) >= texts[0]["fontSize"] >= 10
    assert max(text["x"] for text in texts if text["align"] == "right") < min(
        text["x"] for text in texts if text["align"] == "left"
    )


def test_a_fully_masked_head_has_no_lines():
    view = view_of(np.zeros((2, 2)), ["a", "b"], query=None)
    assert (view.n_lines, view.n_all, view.share) == (0, 0, 1.0)


def test_no_tokens_leave_the_headings():
    _, texts, cover = drawn(view_of(np.zeros((0, 0)), [], query=None).chart)
    assert [text["text"] for text in texts] == ["queries", "keys"]
    assert not cover


def test_a_pattern_of_other_tokens_is_refused():
    with pytest.raises(ValueError, match=r"expected shape \(3, 3\), got L0 H0 of \(2, 2\)"):
        weight_lines(head_record(np.eye(3), ["a", "b", "c"]), {"L0 H0": np.eye(2)}, query=None)


def test_keys_of_another_input_stand_on_the_right():
    view = view_of(np.array([[0.25, 0.75, 0.0], [0.0, 0.5, 0.5]]), ["a", "b"], query=1, keys=["x", "y", "z"])
    assert view.chart.frame["key token"].tolist() == ["y", "z"]
    _, texts, _ = drawn(view.chart)
    right = [text["text"] for text in texts if text["align"] == "left"]
    left = [text["text"] for text in texts if text["align"] == "right"]
    assert (left, right) == (["queries", "a", "b"], ["keys", "x", "y", "z"])
    with pytest.raises(ValueError, match="shape"):
        view_of(PATTERN, TOKENS, query=None, keys=["x"])


def test_positions_of_a_view_are_those_of_the_input():
    view = view_of(np.eye(2), ["film", "it"], query=1, numbers=(2, 5), notes=["hidden"])
    assert view.chart.frame[["query", "key"]].to_numpy().tolist() == [[5, 5]]
    rows = view.chart.frames["rows"]
    assert rows["position"].tolist() == [-1, 2, 5] * 2
    assert rows["selected"].tolist() == [False, False, True, False, False, False]
    rules, texts, _ = drawn(view.chart)
    heights = {text["text"]: text["y"] for text in texts}
    assert {rule["y"] for rule in rules} == {heights["it"]}
    assert view.chart.specification["title"]["text"] == ["hidden"]


def several_heads(n, **options):
    record = head_record(PATTERN, TOKENS)
    return weight_lines(
        record, {f"L0 H{head}": PATTERN / (head + 1) for head in range(n)}, query=None, **options
    )


def test_of_several_heads_each_has_a_colour_whose_opacity_is_the_weight():
    view = several_heads(2)
    rules, *_ = drawn(view.chart)
    frame = view.chart.frame
    assert (view.n_lines, view.n_all, set(frame["head"])) == (20, 20, {"L0 H0", "L0 H1"})
    colours = dict(zip(("L0 H0", "L0 H1"), CATEGORIES, strict=False))
    assert [rule["stroke"] for rule in rules] == [colours[head] for head in frame["head"]]
    np.testing.assert_allclose([rule["opacity"] for rule in rules], frame["weight"])


def test_lines_of_several_heads_lie_beside_each_other_within_the_row():
    view = several_heads(MOST_HEADS)
    rules, texts, _ = drawn(view.chart)
    rows = sorted({text["y"] for text in texts})
    first = [
        rule
        for rule, to in zip(rules, view.chart.frame[["query", "key"]].values, strict=True)
        if list(to) == [1, 0]
    ]
    heights = sorted(rule["y"] for rule in first)
    assert len(set(heights)) == MOST_HEADS
    assert heights[-1] - heights[0] < rows[1] - rows[0]
    assert sum(heights) / MOST_HEADS == pytest.approx(rows[2])  # the headings, the first query, this one


def test_the_strongest_lines_of_all_heads_are_drawn(monkeypatch):
    monkeypatch.setattr("viz.attention.head_view.MOST_LINES", 3)
    view = several_heads(2)
    # PATTERN and its half: 1 and 0.6, then three weights of 0.5, of which the last is drawn.
    assert (view.n_lines, view.n_all) == (3, 20)
    assert sorted(view.chart.frame["weight"]) == [0.5, 0.6, 1]
    assert view.share == pytest.approx(2.1 / 6)


def test_more_heads_than_colours_are_refused():
    with pytest.raises(ValueError, match=f"1 to {MOST_HEADS} heads, got {MOST_HEADS + 1}"):
        several_heads(MOST_HEADS + 1)
    with pytest.raises(ValueError, match="got 0"):
        several_heads(0)
