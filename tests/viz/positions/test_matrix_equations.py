import numpy as np
import pytest

from viz.builders.palette import ACCENT
from viz.positions.matrix_equations import permutation_panels, sum_of_maps

A, B = np.array([[1.0, -2.0]]), np.array([[0.5, 0.0]])


def test_all_maps_share_one_scale():
    figure = sum_of_maps({"A": A, "B": B, "sum": A + B}, ("a",)).specification
    assert [np.asarray(trace.z).tolist() for trace in figure.data] == [[[1, -2]], [[0.5, 0]], [[1.5, -2]]]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-2, 2)
    assert [title.text for title in figure.layout.annotations] == ["A", "B", "sum"]


def test_tokens_stand_from_the_top_and_their_markup_is_shown():
    figure = sum_of_maps({"A": A.repeat(2, axis=0)}, ("<b>", "film")).specification
    assert list(figure.data[0].y) == ["&lt;b&gt;", "film"]
    assert figure.layout.yaxis.autorange == "reversed"


TOKENS = ("[CLS]", "so", "so")
OUTPUT = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
ORDER = np.array([2, 0, 1])


def figure(**changes):
    settings = {"output": OUTPUT, "output_of_reordered": OUTPUT[ORDER], "order": ORDER, "tokens": TOKENS}
    return permutation_panels(**settings | {"query": 0, "is_equal": True} | changes).specification


def test_the_panels_are_both_sides_of_the_equation_and_their_difference():
    left, p, right, difference = figure().data
    assert np.array_equal(left.z, OUTPUT[ORDER])
    assert np.array_equal(right.z, OUTPUT)
    assert np.array_equal(np.array(p.z) @ OUTPUT, OUTPUT[ORDER])
    assert not np.any(difference.z)
    assert {trace.coloraxis for trace in (left, right, difference)} == {"coloraxis"}


def test_the_colours_are_symmetric_about_zero():
    axis = figure().layout.coloraxis
    assert (axis.cmin, axis.cmax) == (-6, 6)


def test_rows_are_named_in_their_order():
    layout = figure().layout
    assert layout.yaxis.ticktext == ("2 so", "[CLS]", "1 so")
    assert layout.yaxis3.ticktext == ("[CLS]", "1 so", "2 so")


def test_the_token_is_framed_where_it_stands():
    def rows(query):
        shapes = figure(query=query).layout.shapes
        return [shape.y0 + 0.5 for shape in shapes if shape.line.color == ACCENT]

    assert rows(query=0) == [1, 1, 0, 1]
    assert rows(query=2) == [0, 0, 2, 0]


@pytest.mark.parametrize(("holds", "sign"), [(True, "="), (False, "≠")])
def test_the_sign_says_whether_it_holds(holds, sign):
    assert [note.text for note in figure(is_equal=holds).layout.annotations] == [
        "Attention(P X)",
        f"<b>{sign}</b>",
        "P",
        "<b>·</b>",
        "Attention(X)",
        "difference",
    ]


def test_many_tokens_are_under_the_pointer_alone():
    n = 100
    made = figure(
        output=np.ones((n, 2)),
        output_of_reordered=np.ones((n, 2)),
        order=np.arange(n),
        tokens=[f"t{number}" for number in range(n)],
    )
    assert made.layout.yaxis.ticktext is None
    assert made.data[0].customdata[7, 0] == "t7"
    assert made.layout.height < 1000


def test_markup_in_a_token_is_text():
    assert figure(tokens=("<b>", "a", "c")).layout.yaxis3.ticktext[0] == "&lt;b&gt;"
