import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.attention.token_axes import colour_bar, position_labels, token_heatmap


def test_tokens_that_occur_once_are_left_as_they_are():
    assert position_labels(["[CLS]", "a", "##film"]) == ["[CLS]", "a", "##film"]


def test_repeated_tokens_carry_their_position():
    assert position_labels(["the", "film", "the"]) == ["the ₀", "film", "the ₂"]
    assert position_labels(["a"] * 12)[11] == "a ₁₁"


def test_long_tokens_end_in_an_ellipsis_and_stay_apart():
    first, second = position_labels(["pneumonoultramicroscopic", "pneumonoultrasilico"])
    assert first == "pneumonoultra… ₀"
    assert second == "pneumonoultra… ₁"


def test_markup_is_text():
    assert position_labels(["<script>", "&amp;"]) == ["&lt;script&gt;", "&amp;amp;"]


@given(st.lists(st.text(st.sampled_from("ab₀₁ <&;lt…"), max_size=6), max_size=30))
def test_no_two_labels_are_alike(tokens):
    assert len(set(position_labels(tokens))) == len(tokens)


def test_queries_run_down_and_keys_across():
    figure = token_heatmap([], title="", labels=["a", "b"])
    assert figure.layout.yaxis.title.text == "query"
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == "key"
    assert figure.layout.xaxis.categoryarray == ("a", "b")


def test_titles_are_text():
    assert token_heatmap([], title="<b>", labels=[]).layout.title.text == "&lt;b&gt;"
    assert colour_bar("<i>", "0 to 1", [0, 1])["title"]["text"] == "&lt;i&gt;,<br>0 to 1"


@pytest.mark.parametrize(
    ("labels", "angle"), [(["a", "film"], 0), ([f"film {place}" for place in range(20)], 90), ([], 0)]
)
def test_labels_that_do_not_fit_side_by_side_stand_upright_above_the_title(labels, angle):
    axis = token_heatmap([], title="", labels=labels).layout.xaxis
    assert axis.tickangle == angle
    longest = max(map(len, labels), default=0)
    assert axis.title.standoff > (6 * longest if angle else 12)  # a letter is about 6 pixels wide, 12 high
