"""The whole app, run headless: what the address says, what the row of the input does, and what goes wrong."""

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.address import LONGEST
from app_pages.inputs.drawing.code import BLANK, to_code
from app_pages.inputs.text_input import LENGTH_LIMIT_SENTENCE
from tests.app_pages.linked import side_names

ROOT = Path(__file__).parents[1]

PAGES = ("app_pages/attention/page.py", "app_pages/compare/page.py")
ON_AN_INPUT = [  # Sinusoids, the first part of Positions, have none
    *((page, {}) for page in (*PAGES, "app_pages/masks/page.py", "app_pages/inside_a_head/page.py")),
    ("app_pages/positions/page.py", {"positions": "Experiments"}),
]
BY_THEMSELVES = tuple(f"app_pages/{name}/page.py" for name in ("theory", "training", "cost"))
DRAWING = BLANK.copy()
DRAWING[5:20, 12:16] = 255


DEFAULTS = {
    "kind": "Text",
    "checkpoint": "imdb-pre-ln",
    "layer": 0,
    "head": 0,
    "query": 1,  # "a", the first of words that are all one letter long in the tiny vocabulary
    "part": "this head",
    "scale": "to 1",
    "view": "matrix",
}


def value(app: AppTest, key: str) -> object:
    return app.get_by_key(key).value


def prediction(app: AppTest) -> str:
    assert not app.exception
    return app.metric[0].value


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "part"), ON_AN_INPUT)
@pytest.mark.parametrize(
    "query",
    [{}, {"kind": "Digit"}, {"kind": "Digit", "source": "Draw", "drawing": to_code(DRAWING)}],
    ids=["text", "test digit", "drawn digit"],
)
def test_every_page_shows_every_kind_of_input(open_app, page, part, query):
    app = open_app(page, **part, **query)
    assert not app.exception
    assert not app.info
    if page in PAGES:
        titles = [name.split() for name in side_names(app)]
        answers = [metric.value for metric in app.metric] or [title[1] for title in titles]
        assert set(answers) <= {*map(str, range(10)), "negative", "positive"}
    assert app.get("vega_lite_chart") or app.get("plotly_chart")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("page", BY_THEMSELVES)
def test_other_pages_need_no_input(open_app, page):
    app = open_app(page, text="")
    assert not app.exception
    assert not [box for box in app.text_area if box.key == "text"]
    assert not any("Type a sentence" in info.value for info in app.info)
    charts = app.get("vega_lite_chart") or app.get("plotly_chart")
    assert charts if "training" not in page else "There is no recording of imdb-pre-ln" in app.info[0].value


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("key", "nonsense"),
    [
        ("kind", "Sound"),
        ("checkpoint", "foo"),
        ("checkpoint", "../../etc"),
        ("layer", "99"),
        ("layer", "-1"),
        ("head", "abc"),
        ("query", "999 film"),
        ("part", "median"),
        ("scale", "<script>"),
        *((key, "") for key in DEFAULTS),
    ],
)
def test_nonsense_in_the_address_is_as_if_it_were_not_there(open_app, key, nonsense):
    app = open_app(**{key: nonsense}, forgiven=[key])
    assert prediction(app)
    assert value(app, key) in (DEFAULTS[key], None)


def test_a_damaged_drawing_in_the_address_gives_one_sentence(open_app):
    app = open_app(kind="Digit", source="Draw", drawing="foo")
    assert not app.exception
    assert [warning.value for warning in app.warning] == [
        "The drawing in this address is damaged, so the canvas starts empty."
    ]
    assert "Draw a digit" in app.info[0].value


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b\x01"])
def test_without_a_text_the_page_says_what_to_do(open_app, text):
    app = open_app()
    app.text_area(key="text").set_value(text).run()
    assert not app.exception
    assert "Type a sentence" in app.info[0].value
    app.text_area(key="text").set_value("great").run()
    assert not app.info
    assert prediction(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "\x00\x01\x1b[31m\u202e\u200b\ufeff",
        "<script>alert(1)</script> $x$ **bold** :material/home: [a](b) `",
        "👩‍👩‍👧‍👦 ﷽ नमस्ते 你好",
    ],
    ids=["long", "control characters", "markup", "scripts"],
)
@pytest.mark.parametrize("view", ["matrix", "lines"])
def test_any_text_is_read(open_app, text, view):
    app = open_app(view=view)
    app.text_area(key="text").set_value(text).run()
    assert not app.exception
    (sentence,) = (block.proto.body for block in app.get("html") if 'class="answer"' in block.proto.body)
    assert "unknown to this encoder</b>" in sentence or 'title="negative 0.' in sentence


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("page", "part"), ON_AN_INPUT)
def test_the_page_says_how_many_tokens_were_left_out(open_app, page, part):
    # Of the encoder's 12 positions two are [CLS] and [SEP].
    app = open_app(page, text="great " * 15, **part)
    assert any("which leaves out the last 5 tokens" in caption.value for caption in app.caption)


def test_the_page_says_where_the_text_box_ended(open_app):
    app = open_app(text="great " * LONGEST)
    assert not app.exception
    assert app.query_params["text"] == value(app, "text")
    assert len(value(app, "text")) == LONGEST
    assert LENGTH_LIMIT_SENTENCE in [caption.value for caption in app.caption]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json", "history.json"])
def test_a_damaged_checkpoint_gives_one_sentence_and_another_can_be_chosen(open_app, checkpoints, file):
    (checkpoints / "imdb-post-ln" / file).write_bytes(b"{")
    app = open_app(checkpoint="imdb-post-ln")
    assert not app.exception
    assert len(app.info) == 1
    assert app.info[0].value.startswith("The encoder imdb-post-ln cannot be used")
    app.selectbox(key="checkpoint").select("imdb-pre-ln").run()
    assert not app.info
    assert prediction(app)


def test_without_any_checkpoint_the_page_says_so(open_app, checkpoints):
    for config in checkpoints.glob("imdb*/config.json"):
        config.unlink()
    app = open_app()
    assert not app.exception
    assert app.info[0].value.startswith("There is no encoder for this input")


def test_the_other_kind_of_input_keeps_the_norm_placement_and_forgets_the_query(open_app):
    app = open_app(text="great film", checkpoint="imdb-pre-ln", query="1 great")
    app.segmented_control(key="kind").set_value("Digit").run()
    assert not app.exception
    assert value(app, "checkpoint") == "mnist-pre-ln"
    assert value(app, "query") == 0


def test_a_shorter_text_keeps_the_query_within_it(open_app):
    app = open_app(text="not great film", layer="1", query="3 film")
    app.text_area(key="text").set_value("").run()  # the widgets go, what they held stays
    app.text_area(key="text").set_value("x").run()
    assert not app.exception
    assert value(app, "layer") == 1
    assert value(app, "query") == 1  # x of [CLS], x, [SEP], since film is not there


def test_what_was_chosen_on_a_page_is_still_chosen_after_a_look_at_another(open_app):
    app = open_app(text="great film", part="mean", view="lines", query="1 great")
    app.switch_page(PAGES[1]).run()
    app.switch_page(PAGES[0]).run()
    assert not app.exception
    held = {key: value(app, key) for key in ("part", "view", "query")}
    assert held == {"part": "mean", "view": "lines", "query": 1}


def printed(script: str) -> list[list[str]]:
    """The words of each line that the script prints, run in a process of its own."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


AHEAD = """
import gc, sys, app
app.frame.DRAWN.wait = lambda _: print(*sys.modules)
app.import_all()
print(gc.isenabled(), gc.get_freeze_count(), len(gc.get_objects()))
print(*sys.modules)
"""


def test_the_first_page_is_imported_before_the_others_and_no_garbage_is_searched_for_in_them():
    of_first_page, (is_on, frozen, left), modules = printed(AHEAD)
    assert {"torch", "app_pages.attention.all_heads_view", "viz.attention.linked_heads"} <= set(of_first_page)
    assert "app_pages.masks.choose_mask" not in of_first_page
    assert is_on == "True"
    assert int(frozen) > 100_000 > 1_000 > int(left)
    assert {"plotly", "altair", "app_pages.shell.frame", "app_pages.masks.choose_mask"} <= set(modules)


FIRST_PAGE = f"""
import sys, app
print(*sys.modules)
import streamlit as st
from streamlit.testing.v1 import AppTest
from app_pages.shell import frame

metric = st.metric

def drawn(*arguments, **options):
    print(*sys.modules)
    st.metric = metric
    return metric(*arguments, **options)

st.metric = drawn
page = AppTest.from_file({str(ROOT / "app.py")!r}, default_timeout=120).run()
first = [element.type for element in page.main.children.values()]
page.run()
print(first == [element.type for element in page.main.children.values()])
print(frame.DRAWN.is_set(), len(page.metric), len(page.exception))
print(*sys.modules)
"""


def test_the_first_page_waits_for_nothing_that_others_alone_need():
    frame, prediction, is_same, state, page = printed(FIRST_PAGE)
    assert "app_pages.shell.frame" in frame  # which is there before torch is imported
    assert not {"torch", "pandas", "altair", "model.checkpoint"} & set(frame)
    of_figures = {"pandas", "pyarrow", "altair", "vl_convert"}
    assert "torch" in prediction
    assert not of_figures & set(prediction)
    assert is_same == ["True"]  # or the second run would put all of the page up anew
    assert state == ["True", "1", "0"]
    assert of_figures <= set(page)
    # A tenth to half a second each; sympy comes with torch.broadcast_shapes.
    assert not {"scipy", "sklearn", "sympy", "ray", "huggingface_hub"} & set(page)


def test_choosing_a_query_shows_its_lines_alone(open_app):
    app = open_app(text="great film", view="lines")
    assert value(app, "all_queries") is True
    app.selectbox(key="query").select_index(2).run()
    assert not app.exception
    assert value(app, "all_queries") is False
