import numpy as np
import pytest

from app_pages.subject.subject import LiveSubject
from model.inputs import Text
from model.measures.word_view import view
from tests.app_pages.charts import described, shown
from tests.app_pages.linked import ROUNDING, captions, choose, linked

TEXT = "great films not"  # [CLS] great film ##s not [SEP]
WORDS, HIDDEN = {"words": "true"}, {"hide_special": "true"}
AT = {"text": TEXT, "checkpoint": "imdb-pre-ln"}


def viewed(**how: bool) -> np.ndarray:
    return view(LiveSubject("imdb-pre-ln", Text(TEXT)).record, **how).pattern


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("query", "how"),
    [
        (WORDS, {"merged": True}),
        (HIDDEN, {"hidden": True}),
        (WORDS | HIDDEN, {"merged": True, "hidden": True}),
    ],
)
def test_all_maps_and_the_tokens_follow(open_app, query, how):
    app = open_app(**AT, **query, layer="1", head="1", query="2 film" if "words" not in query else "2 films")
    expected, chart = viewed(**how), linked(app)
    np.testing.assert_allclose(chart.weights, np.moveaxis(expected, 2, 0), atol=ROUNDING)
    chosen = app.selectbox(key="query")
    assert chosen.value == 2
    row = chosen.options.index("2 films" if "words" in query else "2 film")
    assert chart.kept == (1, 1, row)
    assert chart.data["queries"][row] == ("films" if "words" in query else "film")
    measure = "sum of a row (mean over queries)" if "hide_special" in query else "entropy"
    assert measure in chart.about
    choose(app, query=row - 1)
    assert app.selectbox(key="query").value == 1  # positions are numbered as in the whole input


@pytest.mark.parametrize("kind", ["matrix", "lines"])
def test_the_figures_say_it(open_app, kind):
    app = open_app(**AT, **WORDS, **HIDDEN, view=kind)
    words = "pieces merged into words: attention to a word is their sum, from a word their mean"
    hidden = "special tokens hidden: [CLS], [SEP]"
    shares = viewed(merged=True, hidden=True)[0, 0].sum(axis=-1)
    share = f"{100 * shares.mean():.0f}\u2009% of the weight is shown (mean over the queries), without renormalising"
    if kind == "lines":
        assert described(app, "Attention of")["title"]["text"] == [words, hidden]
        assert described(app, "Lines of L0 H0 from")["title"]["text"] == [words, hidden, share]
    else:
        assert "  \n".join((words, hidden, share)) in captions(app)


def test_without_a_view_nothing_is_said(open_app):
    message = captions(open_app(**AT))
    assert not any(words in message for words in ("merged", "hidden:", "renormalising"))
    app = open_app(**AT, part="mean")
    assert "title" not in described(app, "Attention of")
    assert shown(app)["layout"]["xaxis"]["title"]["text"] == "key"


def test_the_query_stays_the_word_that_holds_it(open_app):
    app = open_app(**AT, query="3 ##s")
    app.toggle(key="words").set_value(True).run()
    assert app.selectbox(key="query").value == 2
    assert app.query_params["query"] == "2 films"
    app.toggle(key="words").set_value(False).run()
    assert app.selectbox(key="query").value == 2
    assert app.query_params["query"] == "2 film"


def test_a_hidden_query_makes_way_for_the_next_one(open_app):
    app = open_app(**AT, query="5 [SEP]")
    app.toggle(key="hide_special").set_value(True).run()
    assert app.selectbox(key="query").value == 4
    app.selectbox(key="query").set_value(1).run()
    assert not app.exception
    app.toggle(key="hide_special").set_value(False).run()
    assert app.selectbox(key="query").value == 1


def test_of_a_digit_the_class_token_can_be_hidden_and_nothing_merged(open_app):
    app = open_app(kind="Digit", **HIDDEN)
    chart = linked(app)
    assert chart.map.shape == (4, 4)
    assert "words" not in [toggle.key for toggle in app.toggle]
    assert chart.data["queries"] == []  # no class token that could be a button
    assert "without renormalising" in captions(app)


def test_where_no_word_has_pieces_none_can_be_merged(open_app):
    app = open_app(text="great film", checkpoint="imdb-pre-ln", **WORDS, forgiven=["words"])
    assert not app.exception
    assert [toggle.key for toggle in app.toggle if toggle.key in ("words", "hide_special")] == [
        "hide_special"
    ]
    assert linked(app).map.shape == (4, 4)
