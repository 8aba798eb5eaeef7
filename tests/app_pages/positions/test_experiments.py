import re
from dataclasses import replace

import numpy as np
import pytest

from app_pages.controls.input_controls import CHECKPOINT, KIND
from app_pages.controls.map_controls import HEAD, LAYER
from app_pages.controls.positions_controls import EXPERIMENT, IN_BOTH_ORDERS, MAPS, ORDER_SEED, ROWS, SHIFT_BY
from app_pages.positions import experiments
from app_pages.show import changed_head
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.capture import capture
from model.capture.intervention import repositioned
from model.theory.permutation_equivariance import shuffled_order
from tests.app_pages.charts import described, shown, table, weights
from tests.app_pages.shown_subject import subject_of
from tests.app_pages.shown_text import html, shown_text
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE, build
from viz.builders.number_format import format_number as number

PART = "Experiments"
TEXT = "not great film a x y"
LEAVE_OUT, SHIFT = "leave the positions out", "shift the positions"


def written(formula: str) -> float:
    r"""The number in `{2.4 \times 10^{-7}}`, or in a plain one."""
    digits, *power = re.findall(r"[-\d.]+", formula.replace(r"\times 10", ""))
    return float(digits) * 10.0 ** int(power[0] if power else 0)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("query", [{}, {"kind": "Digit"}], ids=["text", "digit"])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_without_positions_only_rounding_is_left(open_part, query, placement):
    stem = "mnist" if query else "imdb"
    app = open_part(CHECKPOINT.to(f"{stem}-{placement}-ln"), ORDER_SEED.to(2), **query)
    result = re.search(
        r"\*\*\$(.*?)\$\*\* with positions, \*\*\$(.*?)\$\*\* without", shown_text(app)
    ).groups()
    with_positions, without = map(written, result)
    assert with_positions > 1e-4
    assert without < 1e-5
    assert "What is permuted is the content" in shown_text(app)


def test_the_shuffled_map_is_of_the_order_with_that_seed(open_part):
    app = open_part(CHECKPOINT.to("imdb-pre-ln"), ORDER_SEED.to(7), LAYER.to(1))
    loaded = checkpoint.load("imdb-pre-ln")
    order = shuffled_order(LiveSubject("imdb-pre-ln", TEXT).record.roles, 7)
    after = capture(loaded, TEXT, repositioned(order=order))
    figure = shown(app, "positions_try_map_after")
    assert figure["layout"]["annotations"][0]["text"] == "<b>Shuffled, L1 H0</b>"
    assert figure["data"][0]["y"] == list(after.tokens)
    np.testing.assert_allclose(weights(figure), after.pattern[1, 0], atol=1e-6)
    strips = [chart for chart in app.get("vega_lite_chart") if "tokens of the text" in chart.proto.spec]
    assert len(strips) == 2


def test_put_back_in_order_without_positions_both_maps_are_the_same(open_part):
    app = open_part(ORDER_SEED.to(7), IN_BOTH_ORDERS.to("without positions"), ROWS.to("put back in order"))
    before, after = (shown(app, f"positions_try_map_{side}") for side in ("before", "after"))
    assert before["data"][0]["y"] == after["data"][0]["y"]
    np.testing.assert_allclose(weights(after), weights(before), atol=1e-5)
    assert "In this order, the prediction stays" in html(app)


def test_the_difference_is_token_by_token(open_part):
    app = open_part(ORDER_SEED.to(7), IN_BOTH_ORDERS.to("without positions"), MAPS.to("after minus before"))
    assert np.abs(weights(shown(app, "positions_try_map_difference"))).max() < 1e-5
    assert "with rows and columns put back in order" in shown_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("view", ["side by side", "difference"])
def test_of_many_positions_those_around_the_query_are_drawn(open_part, monkeypatch, view):
    monkeypatch.setattr(changed_head, "MOST_DRAWN", 4)
    monkeypatch.setattr(changed_head, "DRAWN", 2)
    app = open_part(*([MAPS.to("after minus before")] if view == "difference" else []), query="3 film")
    key = "positions_try_map_difference" if view == "difference" else "positions_try_map_before"
    assert weights(shown(app, key)).shape == (2, 2)
    assert any("Of 8 positions, 2 to 3 are drawn" in caption.value for caption in app.caption)


def test_the_largest_change_of_a_weight_is_that_of_the_chosen_head(open_part):
    app = open_part(
        CHECKPOINT.to("imdb-pre-ln"), EXPERIMENT.to(SHIFT), SHIFT_BY.to(3), MAPS.to("after minus before")
    )
    before = LiveSubject("imdb-pre-ln", TEXT).record.pattern
    change = LiveSubject("imdb-pre-ln", TEXT, intervention=repositioned(shift=3)).record.pattern - before
    np.testing.assert_allclose(weights(shown(app, "positions_try_map_difference")), change[0, 0], atol=1e-6)
    assert (
        f"Largest change of any weight in this head: {number(np.abs(change[0, 0]).max(), '.2g')}."
        in shown_text(app)
    )


def test_the_next_order(open_part):
    app = open_part(ORDER_SEED.to(9999))
    app.button(key="positions_try_next").click().run()
    assert app.number_input(key="positions_try_seed").value == 0
    assert not app.exception


def test_many_orders_are_shown_with_and_without_positions(open_part):
    app = open_part(KIND.to("Digit"))
    dots = table(app, "Probability of", "seed", "condition")
    assert set(zip(dots["condition"], dots["seed"], strict=True)) == {
        (condition, seed) for condition in ("with positions", "without positions") for seed in range(32)
    }
    selection = subject_of(app)
    record = selection.record
    orders = [repositioned(order=shuffled_order(record.roles, seed)) for seed in range(32)]
    result = [selection.under(order).record.probabilities for order in orders]
    followed = record.probabilities.argmax()
    kept = sum(values.argmax() == followed for values in result)
    lowest, *_, highest = sorted(f"{100 * values[followed]:05.2f}" for values in result)
    reached = f"{float(lowest):.2f}\u2009% to {float(highest):.2f}\u2009%."
    assert f"With positions, **{kept} of 32** orders keep the prediction {followed}, whose" in shown_text(app)
    assert f"probability goes from {reached}" in shown_text(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("choices", "what", "sentence"),
    [
        ((), "orders", "orders keep the prediction"),
        ((EXPERIMENT.to(SHIFT),), "shifts", "shifts** of the same input"),
    ],
)
def test_many_forward_passes_that_take_long_wait_for_a_button(
    open_part, monkeypatch, choices, what, sentence
):
    monkeypatch.setattr(experiments, "MINUTE", 0)
    app = open_part(*choices)
    button = app.button(key=f"positions_try_{what}_wanted")
    assert f"{what}, about 1 s" in button.label
    assert sentence not in shown_text(app)
    button.click().run()
    for _ in range(2):  # and it stays
        assert not app.exception
        assert sentence in shown_text(app)
        app.run()


@pytest.mark.parametrize(("text", "seed"), [("great film", 1), ("film", 0)])
def test_an_order_that_moves_nothing_says_so(open_part, text, seed):
    app = open_part(ORDER_SEED.to(seed), text=text)
    assert "leaves all tokens where they were" in app.info[0].value


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("query", "stay"),
    [
        ({"text": TEXT}, "that order; \\[CLS\\] and \\[SEP\\] stay."),
        ({"kind": "Digit"}, "places; \\[CLS\\] stays."),
    ],
)
def test_what_stays_is_named(open_part, query, stay):
    assert stay in shown_text(open_part(**query))


def test_left_out_positions_are_zeros(open_part):
    app = open_part(EXPERIMENT.to(LEAVE_OUT), LAYER.to(1), HEAD.to(1))
    after = capture(checkpoint.load("imdb-pre-ln"), TEXT, repositioned(zeroed=True))
    np.testing.assert_allclose(weights(shown(app, "positions_try_map_after")), after.pattern[1, 1], atol=1e-6)
    change = np.abs(after.pattern - LiveSubject("imdb-pre-ln", TEXT).record.pattern).max()
    assert f"**{change:.4f}**" in shown_text(app)
    assert [metric.label for metric in app.metric] == ["With positions", "Without positions"]


@pytest.mark.parametrize(("query", "text"), [({}, TEXT), ({"kind": "Digit"}, None)], ids=["text", "digit"])
def test_a_shift(open_part, query, text):
    app = open_part(EXPERIMENT.to(SHIFT), SHIFT_BY.to(2), **query)
    assert [metric.label for metric in app.metric] == ["As trained", "Shifted by 2"]
    points = table(app, "Probability of", "shift", "says")
    assert points["shift"].tolist() == list(range(12 if text else 4))
    assert ("positions 2 to 9" if text else "2 is a whole row") in shown_text(app)
    assert ("hollow" in shown_text(app)) == (points["says"].nunique() > 1)


def test_another_checkpoint_can_have_fewer_shifts(open_part):
    app = open_part(EXPERIMENT.to(SHIFT), SHIFT_BY.to(11))
    app.segmented_control(key="kind").set_value("Digit").run()
    assert not app.exception
    assert app.slider(key="positions_try_shift").value == 3


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("text", ["x", "[PAD] film [SEP] great", "<b>*x*</b> `$y$`"])
def test_any_text_can_be_shuffled(open_part, text):
    assert shown_text(open_part(ORDER_SEED.to(2), text=text))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("experiment", ["shuffle the content", LEAVE_OUT, SHIFT])
@pytest.mark.parametrize("config", [tiny.TEXT, tiny.DIGIT])
def test_without_classes_the_pooled_state_is_followed(open_part, checkpoints, config, experiment):
    loaded = tiny.loaded(replace(config, class_names=()))
    checkpoint.save(checkpoints / "headless", loaded.model, {}, loaded.tokenizer)
    kind = "Text" if config.is_text else "Digit"
    app = open_part(CHECKPOINT.to("headless"), kind=kind, positions_try=experiment)
    assert not app.metric
    assert "the pooled state changes by a cosine distance of" in html(app)
    if experiment != LEAVE_OUT:
        assert described(app, "cosine distance of the pooled state, over")


def test_shifts_that_leave_rounding_are_a_sentence_and_no_curve(open_part, checkpoints):
    build(checkpoints / "own", "T5EncoderModel")
    app = open_part(CHECKPOINT.to("own"), EXPERIMENT.to(SHIFT), text=SENTENCE)
    assert re.search(r"\*\*\d+ shifts\*\* of the same input (leave|move) the pooled state", shown_text(app))
    charts = [chart.proto.spec for chart in app.get("vega_lite_chart")]
    assert not any("cosine distance of the pooled state" in chart for chart in charts)
