"""The page with a list, and what of the list other pages show."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls import input_controls
from app_pages.inputs.enter_list import example_list
from app_pages.inputs.input_list import EnteredList
from app_pages.subject.shipped_inputs import right_answers, sentences
from model import checkpoint
from tests.app_pages import charts
from tests.app_pages.shown_text import page_text
from tests.model import tiny

Open = Callable[..., AppTest]
PAGE, ATTENTION, HEADS = (f"app_pages/{name}/page.py" for name in ("many_inputs", "attention", "heads"))
PASTED = "text,label\ngreat film,positive\nnot great,negative\n<script>x</script>,0\nnot,1\n"


@pytest.fixture
def open_list(open_app: Open) -> Open:
    def opened(pasted: str = PASTED, **query: str) -> AppTest:
        app = open_app(PAGE, **{"many_order": "as given"} | query)
        app.text_area(key="several_paste_0").set_value(pasted)
        next(button for button in app.button if button.label == "Use these texts").click()
        app.run()
        assert not app.exception
        return app

    return opened


def rows_of(app: AppTest) -> list[dict]:
    result = [
        component.proto
        for component in app.get("bidi_component")
        if component.proto.component_name == "many_inputs"
    ]
    return json.loads(result[0].json)["rows"] if result else []


def table(app: AppTest) -> list[dict]:
    """Of each row the texts by the names of their cells, without the mark of an answer; whether that is right or wrong, where it is
    known; and the number of the input.
    """
    rows = []
    for row in rows_of(app):
        texts = {cell["name"]: cell["text"] for cell in row["cells"]} | {"number": row["key"]}
        for verdict, mark in (("right", "✓ "), ("wrong", "✗ ")):
            if (answer := texts.pop(f"answer {verdict}", None)) is not None:
                assert answer.startswith(mark)
                texts |= {"answer": answer.removeprefix(mark), verdict: True}
        rows.append(texts)
    return rows


def numbers(app: AppTest) -> list[int]:
    return [row["number"] for row in table(app)]


def click(app: AppTest, number: int) -> AppTest:
    """As a click on the row does it; `AppTest` cannot click on a component, and tests/browser does."""
    kind = app.session_state["kind"]
    app.session_state["entered_lists"][kind].opened = number
    item = app.session_state["entered_lists"][kind].listed.items[number]
    key, value = ("text", item.text.text) if item.text is not None else ("digit", item.digit)
    app.session_state[key] = value
    app.switch_page(ATTENTION).run()
    assert not app.exception
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("kind", "n"), [("Text", None), ("Digit", 100)])
def test_the_page_opens_with_the_examples(open_app, kind, n):
    app = open_app(PAGE, kind=kind)
    assert len(table(app)) == (n or len(sentences()))
    assert [popover.proto.popover.label for popover in app.get("popover")].count("Your own list") == 1
    assert "entered_lists" not in app.session_state or not app.session_state["entered_lists"][kind].listed


def test_the_examples_keep_their_name_when_one_was_opened(open_app):
    app = open_app(PAGE)
    app.session_state["entered_lists"] = {"Text": EnteredList(listed=example_list("Text"), opened=0)}
    app.run()
    labels = [popover.proto.popover.label for popover in app.get("popover")]
    assert "Your own list" in labels
    assert "Another list" not in labels
    assert any("examples, chosen to be hard" in block.value for block in app.markdown)


@pytest.mark.slow
def test_the_list_is_gone_through_in_the_order_of_the_table_with_the_head_kept(open_list):
    app = open_list()
    app.segmented_control(key="many_order").set_value("hardest first").run()
    order = numbers(app)
    click(app, order[1])
    assert app.button(key="several_back").label == "2 of 4"
    app.selectbox(key="layer").select(1).run()
    app.selectbox(key="head").select(1).run()
    press(app, "several_next")
    assert app.button(key="several_back").label == "3 of 4"
    expected = PASTED.splitlines()[1 + order[2]].rpartition(",")[0]
    assert app.text_area(key="text").value == expected
    assert (app.selectbox(key="layer").value, app.selectbox(key="head").value) == (1, 1)
    assert app.metric[0].delta  # right or wrong, since the label is known
    app.text_area(key="text").set_value("film").run()
    assert app.button(key="several_back").label == "3 of 4, changed"
    press(app, "several_previous")
    press(app, "several_previous")
    assert app.button(key="several_previous").disabled


def test_without_a_list_there_is_no_stepper(open_app):
    app = open_app(ATTENTION)
    assert not [button for button in app.button if str(button.key).startswith("several")]


def test_what_cannot_be_read_is_one_sentence(open_list):
    pasted = 'text,label\n"a'
    app = open_list(pasted)
    assert "a quotation mark is opened and never closed" in page_text(app)
    assert len(table(app)) == len(sentences())  # still the examples
    assert app.text_area(key="several_paste_0").value == pasted


def test_much_is_read_in_part_and_that_is_said(open_list):
    app = open_list("\n".join(f"great film {index}" for index in range(600)))
    assert len(table(app)) == 500
    assert "There are 600 texts, of which the first 500 are read." in [block.value for block in app.caption]


def test_texts_of_which_none_can_be_read(open_list):
    app = open_list("\u200b")
    assert [block.value for block in app.info] == ["The encoder can read none of these inputs."]
    assert not table(app)


def test_another_list_takes_the_place_of_the_first(open_list):
    app = open_list()
    press(app, "several_examples")
    assert table(app)[0]["input"].startswith("A warm, funny")


def test_test_digits_open_as_such(open_app):
    app = open_app(PAGE, input_controls.KIND.to("Digit"), many_order="as given")
    press(app, "several_examples")
    assert len(table(app)) == 100
    assert all("picture" in row["cells"][1] for row in rows_of(app))
    click(app, 6)
    press(app, "several_next")
    assert app.session_state["digit"] == 7
    assert app.button(key="several_back").label == "8 of 100"


def test_a_damaged_checkpoint_is_one_sentence(open_app, checkpoints):
    (checkpoints / "imdb-pre-ln" / "model.safetensors").write_bytes(b"{")
    app = open_app(PAGE)
    assert not app.exception
    assert app.info[0].value.startswith("The encoder imdb-pre-ln cannot be used")


def test_an_encoder_without_classes_compares_its_states(open_list, checkpoints):
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=()))
    checkpoint.save(checkpoints / "headless", loaded.model, {}, loaded.tokenizer)
    app = open_list(checkpoint="headless")
    assert {row["answer"] for row in table(app)} <= {f"number {index}" for index in range(1, 5)}


def test_a_text_and_a_cell_filter_together(open_list):
    app = open_list()
    rows = table(app)
    classes = ("negative", "positive")
    labels = [1, 0, 0, 1]
    app.text_input(key="many_text").set_value("NOT").run()
    assert numbers(app) == [1, 3]
    assert "**2 of 4** match: containing “NOT”." in [block.value for block in app.markdown]
    answered = classes.index(rows[3]["answer"])
    app.query_params["many_cell"] = f"1-{answered}"
    app.run()
    assert numbers(app) == [3]  # the only one that contains it and is labelled positive
    app.text_input(key="many_text").set_value("great").run()
    assert numbers(app) == [n for n in (0,) if rows[n]["answer"] == classes[answered] and labels[n] == 1]
    app.text_input(key="many_text").set_value("zzz").run()
    assert not table(app)
    assert "None of the inputs matches." in [block.value for block in app.info]
    press(app, "many_show_all")
    assert numbers(app) == [0, 1, 2, 3]
    assert app.button(key="many_show_all").disabled
    assert "many_cell" not in app.query_params


def test_the_filter_is_in_the_address(open_app):
    app = open_app(PAGE, many_text="film")
    expected = [number for number, text in enumerate(sentences().values()) if "film" in text.lower()]
    assert sorted(numbers(app)) == expected
    assert 0 < len(expected) < len(sentences())


@pytest.mark.parametrize("cell", ["x", "0-9", "-1-0", "999999-0"])
def test_a_cell_that_does_not_exist_hides_nothing(open_app, cell):
    app = open_app(PAGE, kind="Text", many_cell=cell)
    assert not app.exception
    assert len(table(app)) == len(sentences())


def test_what_is_pasted_becomes_a_matrix_and_a_table(open_list):
    app = open_list()
    counts = charts.table(app, "Confusion matrix of 4 inputs", "label_name", "answer_name", "value")
    rows, labels = table(app), ["positive", "negative", "negative", "positive"]
    for cell in counts.to_dict("records"):
        pairs = [(label, row["answer"]) for label, row in zip(labels, rows, strict=True)]
        assert cell["value"] == pairs.count((cell["label_name"], cell["answer_name"]))
    (by_class,) = (block.value for block in app.markdown if block.value.startswith("| label"))
    assert by_class.count(" of 2 | too few |") == 2
    assert [row["input"] for row in rows] == ["great film", "not great", "<script>x</script>", "not"]
    n_right = sum("right" in row for row in rows)
    assert f"4 inputs: {n_right} right, too few for a percentage (n = 4)." in app.markdown[0].value
    app.segmented_control(key="many_order").set_value("hardest first").run()
    losses = [float(row["surprise"]) for row in table(app)]
    assert losses == sorted(losses, reverse=True)
    app.toggle(key="many_wrong").set_value(True).run()
    assert len(table(app)) == 4 - n_right
    assert not app.exception


def test_without_labels_there_is_no_matrix_and_the_hardest_come_first(open_list):
    app = open_list("great film\nnot great\nfilm\n", many_order="hardest first")
    assert not app.get("vega_lite_chart")
    assert app.segmented_control(key="many_order").options == ["hardest first", "as given"]


def test_the_wrong_ones_come_first_and_among_them_the_hardest(open_list):
    rows = table(open_list(many_order="wrong first"))
    is_right = ["right" in row for row in rows]
    assert is_right == sorted(is_right)
    for group in (True, False):
        losses = [float(row["surprise"]) for row in rows if ("right" in row) is group]
        assert losses == sorted(losses, reverse=True)


def test_the_examples_have_labels_where_the_encoder_has_their_classes(open_app, checkpoints):
    labelled = [row for row in table(open_app(PAGE)) if row.get("right") or row.get("wrong")]
    assert len(labelled) == len(right_answers())
    other = tiny.loaded(replace(tiny.TEXT, class_names=("spam", "ham")))
    checkpoint.save(checkpoints / "mail", other.model, {}, other.tokenizer)
    app = open_app(PAGE, checkpoint="mail")
    assert not [row for row in table(app) if {"right", "wrong"} & set(row)]
    assert not any("not a class" in caption.value for caption in app.caption)


def test_the_heads_are_measured_over_the_list_for_this_session_alone(open_list, checkpoints):
    before = sorted(path for path in checkpoints.rglob("*"))
    app = open_list()
    assert app.button(key="many_measure_heads").label.startswith(
        "Measure all heads over these 4 inputs, about"
    )
    press(app, "many_measure_heads")
    message = "All heads are measured over 4 texts of the list on Many inputs, for this session alone"
    assert any(block.value.startswith(message) for block in app.markdown)
    assert not [button for button in app.button if button.key == "many_measure_heads"]
    assert sorted(path for path in checkpoints.rglob("*")) == before
    app.switch_page(HEADS).run()
    assert not app.exception
    assert "4 texts of the list on Many inputs" in app.segmented_control(key="heads_of").proto.help
    app.switch_page(PAGE).run()
    press(app, "many_forget_heads")
    assert app.button(key="many_measure_heads")


def test_one_input_has_no_spread_to_measure(open_list):
    app = open_list("text\na film\n")
    assert not [button for button in app.button if button.key == "many_measure_heads"]
