import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.experiments.head_steps import ORDER
from tests.app_pages.charts import table
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny
from tests.tolerance import rounding

Open = Callable[..., AppTest]

PAGE = "app_pages/inside_a_head/page.py"
TEXT = "not great film"
NAMES = ("imdb-pre-ln", "imdb-post-ln", "mnist-pre-ln", "mnist-post-ln")


@pytest.fixture
def open_inside(open_app: Open) -> Open:
    return partial(open_app, PAGE)


def address_of(name: str) -> dict[str, str]:
    kind = {"text": TEXT} if name.startswith("imdb") else {"kind": "Digit"}
    return kind | {"checkpoint": name, "layer": "1", "head": "1"}


def press(app: AppTest, label: str) -> AppTest:
    (button,) = (button for button in app.button if button.label == label)
    button.click().run()
    assert not app.exception
    return app


def said(app: AppTest) -> list[str]:
    return [block.value for block in (*app.markdown, *app.caption, *app.get("latex"))]


def bound(text: str) -> float:
    """The number in "the encoder's own numbers: 3 × 10⁻⁷."."""
    digits, power = re.search(r"own numbers: (\d)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text).groups()
    return float(digits) * 10.0 ** int((power or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


@pytest.mark.parametrize("name", NAMES)
def test_every_step_can_be_opened_and_stands_in_the_order_of_the_placement(
    open_inside: Open, name: str
) -> None:
    app = press(open_inside(**address_of(name), query="2 great" if "imdb" in name else "r0c1"), "Open all")
    order = ORDER["pre" if "pre" in name else "post"]
    assert len(app.expander) == len(order)
    norm = [number for number, step in enumerate(app.expander) if "LayerNorm" in step.label]
    assert norm == [order.index("norm_attention"), order.index("norm_feed_forward")]
    bounds = [text for text in said(app) if "from the encoder's own" in text]
    unseen = {"input", "mask"} | (set() if "pre" in name else {"add_attention", "add_feed_forward"})
    assert len(bounds) == 1 + len(set(order) - unseen)
    assert all(bound(text) < 1e-4 for text in bounds)


def test_the_numbers_are_those_of_the_head(open_inside: Open) -> None:
    app = open_inside(**address_of("imdb-pre-ln"), query="2 great")
    record = LiveSubject("imdb-pre-ln", TEXT).record
    q, k = record.q[1, 1, 2], record.k[1, 1]
    cells = table(app, "product of q and k", "component")
    np.testing.assert_allclose(cells["value"].to_numpy().reshape(k.shape), q * k, atol=1e-5)
    np.testing.assert_allclose(table(app, "product of q and k", "total")["total"], k @ q, atol=1e-5)
    weights = table(app, "attention weight", "value")
    np.testing.assert_allclose(weights["value"], record.pattern[1, 1, 2], atol=1e-6)
    assert weights["name"].tolist() == [f"{at} {token}" for at, token in enumerate(record.tokens)]
    z = table(app, "component of z", "value")["value"]
    np.testing.assert_allclose(z, record.z[1, 1, 2], atol=1e-5)


def test_the_stream_and_what_is_added_to_it(open_inside: Open) -> None:
    app = press(open_inside(**address_of("mnist-pre-ln")), "Open all")
    selection = subject_of(app)
    before, mid, after = LiveSubject("mnist-pre-ln", selection.model_input).record.residual[2:5, 0]
    sums = table(app, "value of xᵢ", "value")["value"].to_numpy().reshape(3, -1)
    np.testing.assert_allclose(sums, [before, mid - before, mid], atol=1e-5)
    sums = table(app, "value of x′ᵢ", "value")["value"].to_numpy().reshape(3, -1)
    np.testing.assert_allclose(sums, [mid, after - mid, after], atol=1e-5)
    assert any("last block" in text for text in said(app))


def test_only_what_is_unfolded_is_drawn(open_inside: Open) -> None:
    app = open_inside()
    assert len(app.get("vega_lite_chart")) > 2
    press(app, "Fold all")
    assert len(app.get("vega_lite_chart")) == 1  # the diagram


def test_the_address_says_what_is_unfolded(open_inside: Open) -> None:
    app = press(open_inside(inside_step_softmax="false", inside_step_expand="true"), "Fold all")
    assert app.query_params["inside_step_products"] == "false"
    assert "inside_step_expand" not in app.query_params


def test_the_strongest_key_is_looked_at_first(open_inside: Open) -> None:
    app = open_inside(**address_of("imdb-post-ln"))
    strongest = LiveSubject("imdb-post-ln", TEXT).record.pattern[1, 1, 0].argmax()
    assert any(rf"q_i \cdot k_{{{strongest}}} =" in text for text in said(app))


@pytest.mark.parametrize("nonsense", ["99 film", "-1", "<b>", ""])
def test_nonsense_for_a_key_is_the_strongest(open_inside: Open, nonsense: str) -> None:
    app = open_inside(text=TEXT, inside_key=nonsense, forgiven=["inside_key"])
    assert not app.exception
    assert app.selectbox(key="inside_key").value == "strongest"


def test_a_shorter_text_has_fewer_keys(open_inside: Open) -> None:
    app = open_inside(text=TEXT, inside_key="3 film")
    assert app.selectbox(key="inside_key").value == 3
    app.text_area(key="text").set_value("a").run()
    assert not app.exception
    assert app.selectbox(key="inside_key").value == "strongest"


@pytest.fixture
def long_text(checkpoints: Path) -> str:
    """A text of 40 tokens, on an encoder that takes so many."""
    encoder = tiny.loaded(replace(tiny.TEXT, n_positions=40))
    checkpoint.save(checkpoints / "imdb-pre-ln", encoder.model, {}, encoder.tokenizer)
    return " ".join("abcdefghijklmnopqrstuvwxyz" + "abcdefghijkl")


def test_of_many_keys_the_strongest_are_drawn_until_all_are_asked_for(
    open_inside: Open, long_text: str
) -> None:
    app = open_inside(text=long_text, checkpoint="imdb-pre-ln", inside_key="7 g")
    pattern = LiveSubject("imdb-pre-ln", long_text).record.pattern[0, 0, 0]
    drawn = table(app, "attention weight", "value")
    places = [int(name.split()[0]) for name in drawn["name"]]
    assert set(places) == {7, *np.argsort(-pattern)[:16].tolist()}
    assert places == sorted(places)
    (share, *_) = (text for text in said(app) if "of 40 keys" in text)
    assert f"{len(places)} of 40 keys" in share
    assert f"{100 * pattern[places].sum():.1f}\u2009%" in share
    rows = table(app, "component of A v", "total")
    assert rows["name"].iloc[-1] == f"the other {40 - len(places)}"
    assert rows["total"].sum() == pytest.approx(1, rel=rounding(2 * 40))

    app.toggle(key="inside_every_key").set_value(True).run()
    assert len(table(app, "attention weight", "value")) == 40
    assert not any("of 40 keys" in text for text in said(app))


def test_masked_keys_are_said_to_be_so(open_inside: Open) -> None:
    app = press(
        open_inside(text="film [PAD] not", checkpoint="imdb-pre-ln", inside_key="2 [PAD]"), "Open all"
    )
    assert any("attend to 4 of 5 positions" in text for text in said(app))
    assert any("key } 2" in text and "masked" in text for text in said(app))
    for what in ("score after the mask", "attention weight"):
        assert table(app, what, "value")["number"].tolist()[2] == "masked"


def test_a_block_with_other_steps_gives_one_sentence(open_inside: Open, checkpoints: Path) -> None:
    encoder = tiny.loaded(replace(tiny.TEXT, norm_placement="b2t"))
    checkpoint.save(checkpoints / "imdb-pre-ln", encoder.model, {}, encoder.tokenizer)
    app = open_inside(checkpoint="imdb-pre-ln")
    assert not app.exception
    assert app.info[0].value.startswith("The steps are those of pre-LN and post-LN blocks")


@pytest.mark.parametrize("part", ["Step by step", "Why √d_k", "LayerNorm", "Order of tokens"])
@pytest.mark.parametrize("kind", ["Text", "Digit"])
def test_every_part_takes_every_kind_of_input(open_inside: Open, part: str, kind: str) -> None:
    app = open_inside(kind=kind, inside=part)
    assert not app.exception
    assert not app.info
    assert app.segmented_control(key="inside").value == part


@pytest.mark.parametrize(
    "part",
    [
        {"inside": "Step by step"},
        {"inside": "Why √d_k", "inside_scale": "this encoder"},
        {"inside": "Why √d_k", "inside_scale": "temperature"},
        {"inside": "LayerNorm"},
        {"inside": "Order of tokens"},
    ],
)
def test_an_encoder_without_classes_opens_every_part(
    open_inside: Open, checkpoints: Path, part: dict[str, str]
) -> None:
    encoder = tiny.loaded(replace(tiny.TEXT, class_names=()))
    checkpoint.save(checkpoints / "imdb-pre-ln", encoder.model, {}, encoder.tokenizer)
    app = open_inside(**address_of("imdb-pre-ln"), **part)
    assert not app.exception
    assert app.get("vega_lite_chart") or app.get("plotly_chart")


def boxes(app: AppTest) -> set[str]:
    """What of the choice of a head and a query can be chosen."""
    assert not app.exception
    widgets = (*app.selectbox, *app.segmented_control)
    return {widget.key for widget in widgets} & {"layer", "head", "scale", "query"}


@pytest.mark.parametrize(
    ("part", "needed"),
    [
        ({"inside": "Step by step"}, {"layer", "head", "scale", "query"}),
        ({"inside": "Why √d_k", "inside_scale": "random vectors"}, set()),
        ({"inside": "Why √d_k", "inside_scale": "this encoder"}, {"layer", "head"}),
        ({"inside": "Why √d_k", "inside_scale": "temperature"}, {"layer", "head", "scale", "query"}),
        ({"inside": "LayerNorm"}, {"layer", "head", "query"}),
        ({"inside": "Order of tokens"}, {"layer", "head", "query"}),
    ],
)
def test_what_a_part_does_not_need_is_not_asked(open_inside: Open, part: dict, needed: set[str]) -> None:
    without = {"layer", "head"} - needed
    assert boxes(open_inside(**address_of("imdb-pre-ln"), **part, forgiven=without)) == needed


def test_the_choice_of_a_head_outlasts_a_part_without_one(open_inside: Open) -> None:
    app = open_inside(**address_of("imdb-pre-ln"), query="2 great")
    app.segmented_control(key="inside").set_value("Why √d_k").run()
    app.segmented_control(key="inside").set_value("Order of tokens").run()
    assert not app.exception
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [1, 1, 2]
