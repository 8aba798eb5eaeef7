import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.inside_a_head_controls import STEP_TITLES, step_titles
from app_pages.inside_a_head.attention_table import TABLE_STEPS
from app_pages.subject.subject import LiveSubject
from model import checkpoint
from model.experiments.head_steps import step_order
from tests.app_pages.charts import table
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE, build

Open = Callable[..., AppTest]

PART: dict[str, str] = {}
TEXT = "not great film"
NAMES = ("imdb-pre-ln", "imdb-post-ln", "mnist-pre-ln", "mnist-post-ln")


def address_of(name: str) -> dict[str, str]:
    kind = {"text": TEXT} if name.startswith("imdb") else {"kind": "Digit"}
    return kind | {"checkpoint": name, "layer": "1", "head": "1"}


def shown_texts(app: AppTest) -> list[str]:
    return [block.value for block in (*app.markdown, *app.caption, *app.get("latex"))]


def bound(text: str) -> float:
    """The number in "differs from the encoder's own by more than 3 × 10⁻⁷."."""
    digits, power = re.search(r"own by more than (\d)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text).groups()
    return float(digits) * 10.0 ** int((power or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def go_to(app: AppTest, step: str) -> AppTest:
    """The app at another step, whose numbers are the encoder's own up to rounding."""
    app.selectbox(key="inside_step").set_value(step).run()
    assert not app.exception
    (bounds,) = (text for text in shown_texts(app) if "the encoder's own by more than" in text)
    assert bound(bounds) < 1e-4
    return app


def key_rows(app: AppTest) -> list[dict[str, dict]]:
    """The rows of the table, each with its cells by column, and what it is beside that."""
    assert not app.exception
    (made,) = (
        part.proto for part in app.get("bidi_component") if part.proto.component_name == "attention_table"
    )
    columns = ("key", "products", "dot", "score", "weight", "values")
    return [row | dict(zip(columns, row["cells"], strict=False)) for row in json.loads(made.json)["rows"]]


def of_keys(app: AppTest) -> list[dict[str, dict]]:
    return [row for row in key_rows(app) if "part" not in row]


def number(cell: dict) -> float:
    return float(cell["text"].replace("−", "-"))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", NAMES)
def test_every_step_can_be_chosen_and_stands_in_the_order_of_the_placement(opened, name):
    app = opened(**address_of(name), query="2 great" if "imdb" in name else "r0c1")
    order = step_order(subject_of(app).record.config, 1)
    assert app.selectbox(key="inside_step").options == [STEP_TITLES[step] for step in order]
    for step in order:
        go_to(app, step)
        assert (step in TABLE_STEPS) == any(
            part.proto.component_name == "attention_table" for part in app.get("bidi_component")
        )


FAMILIES = {
    "ModernBertModel": ("rotate", {}),
    "EsmModel": ("rotate", {}),
    "EuroBertModel": ("rotate", {}),
    "NomicBertModel": ("rotate", {}),
    "T5EncoderModel": ("bias", {"feed_forward_proj": "gated-gelu"}),
    "UMT5EncoderModel": ("bias", {}),
    "MPNetModel": ("bias", {}),
    "DebertaV2Model": ("relative_positions", {}),
}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", FAMILIES)
def test_every_step_of_other_families_can_be_chosen(open_own, architecture):
    own_step, changed = FAMILIES[architecture]
    app = open_own(architecture, changed)
    config = subject_of(app).record.config
    order, titles = step_order(config, 1), step_titles(config)
    assert own_step in order
    assert app.selectbox(key="inside_step").options == [titles[step] for step in order]
    for step in order:
        go_to(app, step)
        assert not app.info


@pytest.fixture
def open_own(opened: Open, checkpoints: Path) -> Open:
    def open_own(architecture: str, changed: dict | None = None, **address: str) -> AppTest:
        build(checkpoints / "own", architecture, **(changed or {}))
        own = {"kind": "Text", "text": SENTENCE, "checkpoint": "own", "layer": "1", "query": "2 film"}
        return opened(**own | address)

    return open_own


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "step", "query", "words"),
    [
        ("DINOv3ViTModel", "rotate", "r1c0", "grows with the row or the column of the patch"),
        ("DINOv3ViTModel", "rotate", "[CLS]", "it is the patch's own angle"),
        ("BeitModel", "bias", "r1c0", "so many rows and so many columns"),
        (
            "BeitModel",
            "bias",
            "[CLS]",
            "With the class token as query or key, the score has another learned number",
        ),
    ],
)
def test_positions_on_the_grid_of_patches_are_recomputed_too(open_own, architecture, step, query, words):
    texts = shown_texts(go_to(open_own(architecture, kind="Picture", query=query), step))
    assert any(words in text for text in texts)
    assert query != "[CLS]" or not any("how far apart query and key" in text for text in texts)


def test_three_score_maps_add_up_in_the_table(open_own):
    app = open_own("DebertaV2Model", inside_step="Scores of relative positions")
    scores = subject_of(app).record.scores[1, 0, 2]
    rows = [{cell["name"]: cell for cell in row["cells"]} for row in of_keys(app)]
    maps = [
        [number(row[name]) for row in rows]
        for name in ("scaled", "content_to_position", "position_to_content", "score")
    ]
    np.testing.assert_allclose(sum(map(np.array, maps[:3])), maps[3], atol=2.1e-3)
    np.testing.assert_allclose(maps[3], scores, atol=6e-4)
    assert any("3 score maps add up" in text for text in shown_texts(app))
    assert any(r"\sqrt{3 \, d_k}" in text for text in shown_texts(app))


def test_a_bias_is_added_to_scores_that_are_not_divided(open_own):
    app = open_own("T5EncoderModel", inside_step="Bias by distance", inside_key="4 not")
    rows = [{cell["name"]: cell for cell in row["cells"]} for row in of_keys(app)]
    sums = [number(row["scaled"]) + number(row["bias"]) for row in rows]
    scores = subject_of(app).record.scores[1, 0, 2]
    np.testing.assert_allclose(sums, scores, atol=1.1e-3)
    assert any("2 to the right of the query" in text for text in shown_texts(app))
    assert any("does not divide by √d_k" in text for text in shown_texts(go_to(app, "scale")))
    assert app.selectbox(key="inside_step").value == "scale"


def test_rotated_queries_are_what_is_multiplied(open_own):
    app = open_own("EsmModel", inside_step="Rotation by position", inside_key="4 not")
    record = subject_of(app).record
    rows = table(app, "component of q, k", "name", "value").groupby("name", sort=False)["value"].apply(list)
    np.testing.assert_allclose(rows["rotated: q̃ᵢ"], record.q[1, 0, 2], atol=1e-5)
    np.testing.assert_allclose(rows["rotated: k̃ⱼ"], record.k[1, 0, 4], atol=1e-5)
    assert any("2 radians at the query and by 4 radians at the key" in text for text in shown_texts(app))
    go_to(app, "products")
    assert any(r"\tilde{q}_i \cdot \tilde{k}_j" in text for text in shown_texts(app))


def test_shared_keys_and_gates_and_missing_parts_are_named(open_own):
    app = open_own("EuroBertModel", head="3", inside_step="Query, key and value")
    assert any("Heads 2–3 have $W_K$ and $W_V$ in common" in text for text in shown_texts(app))
    assert not any("b_Q" in text for text in shown_texts(app))
    go_to(app, "norm_attention")
    assert any("RMSNorm (Zhang & Sennrich 2019) subtracts no mean" in text for text in shown_texts(app))
    assert app.selectbox(key="inside_step").options[1] == "RMSNorm of the attention"
    go_to(app, "expand")
    assert any(r"\mathrm{SiLU}(\hat{x}_i' W_1) \odot (\hat{x}_i' W_3)" in text for text in shown_texts(app))


def test_without_a_first_norm_attention_reads_the_embedding(open_own):
    app = open_own(
        "ModernBertModel", layer="0", inside_step="LayerNorm of the attention", forgiven=["inside_step"]
    )
    assert app.selectbox(key="inside_step").value == "products"  # there is no such step
    assert "LayerNorm of the attention" not in app.selectbox(key="inside_step").options
    go_to(app, "project")
    assert any("Layer 0 has no norm before its attention" in text for text in shown_texts(app))


def test_the_numbers_are_those_of_the_head(opened):
    app = opened(**address_of("imdb-pre-ln"), query="2 great")
    record = LiveSubject("imdb-pre-ln", TEXT).record
    q, k, v = record.q[1, 1, 2], record.k[1, 1], record.v[1, 1]
    pattern = record.pattern[1, 1, 2]
    rows = of_keys(app)
    assert [row["key"]["text"] for row in rows] == [
        f"{key} {token}" for key, token in enumerate(record.tokens)
    ]
    products = [row["products"]["strip"]["values"] for row in rows]
    np.testing.assert_allclose(products, q * k, rtol=1e-3, atol=1e-5)
    weighted = [row["values"]["strip"]["values"] for row in rows]
    np.testing.assert_allclose(weighted, pattern[:, None] * v, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose([number(row["dot"]) for row in rows], k @ q, atol=0.05)
    np.testing.assert_allclose([number(row["score"]) for row in rows], record.scores[1, 1, 2], atol=0.05)
    np.testing.assert_allclose([number(row["weight"]) for row in rows], pattern, atol=5.1e-4)
    first, last = key_rows(app)[0], key_rows(app)[-1]
    np.testing.assert_allclose(first["products"]["strip"]["values"], q, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(last["values"]["strip"]["values"], record.z[1, 1, 2], rtol=1e-3, atol=1e-5)


def test_under_the_pointer_a_component_is_written_as_a_product(opened):
    for row in of_keys(opened(**address_of("imdb-pre-ln"))):
        for column in ("products", "values"):
            strip = row[column]["strip"]
            first, second = map(np.array, strip["factors"])
            np.testing.assert_allclose(first * second, strip["values"], rtol=2e-3, atol=1e-9)


def test_the_stream_and_what_is_added_to_it(opened):
    app = opened(**address_of("mnist-pre-ln"), inside_step="Residual stream x")
    (stream,) = (text for text in shown_texts(app) if "the residual stream after" in text)
    assert "the residual stream after block 0." in stream  # of layer 1
    go_to(app, "add_attention")
    selection = subject_of(app)
    before, mid, after = LiveSubject("mnist-pre-ln", selection.model_input).record.residual[2:5, 0]
    sums = table(app, "value of xᵢ", "value")["value"].to_numpy().reshape(3, -1)
    np.testing.assert_allclose(sums, [before, mid - before, mid], atol=1e-5)
    go_to(app, "add_feed_forward")
    sums = table(app, "value of x′ᵢ", "value")["value"].to_numpy().reshape(3, -1)
    np.testing.assert_allclose(sums, [mid, after - mid, after], atol=1e-5)
    assert any("last block" in text for text in shown_texts(app))


def test_buttons_lead_to_the_neighbouring_steps(opened):
    app = opened(inside_step="Query, key and value")
    app.button(key="inside_on").click().run()
    assert app.selectbox(key="inside_step").value == "products"
    app.button(key="inside_on").click().run()
    assert app.query_params["inside_step"] == "Division by √d_k"
    app.button(key="inside_back").click().run()
    assert "inside_step" not in app.query_params
    go_to(app, "input")
    assert app.button(key="inside_back").disabled
    assert not app.button(key="inside_on").disabled


def test_rows_can_be_sorted_by_weight(opened):
    app = opened(**address_of("imdb-pre-ln"), query="2 great", inside_sort="weight")
    pattern = LiveSubject("imdb-pre-ln", TEXT).record.pattern[1, 1, 2]
    keys = [int(row["key"]["text"].split()[0]) for row in of_keys(app)]
    assert keys == np.argsort(-pattern, kind="stable").tolist()


def test_the_strongest_key_is_the_first(opened):
    app = opened(**address_of("imdb-post-ln"), query="0 [CLS]")
    strongest = LiveSubject("imdb-post-ln", TEXT).record.pattern[1, 1, 0].argmax()
    assert any(rf"q_i \cdot k_{{{strongest}}} =" in text for text in shown_texts(app))


def test_a_shorter_text_has_fewer_keys(opened):
    app = opened(text=TEXT, inside_key="3 film")
    assert app.selectbox(key="inside_key").value == 3
    app.text_area(key="text").set_value("a").run()
    assert not app.exception
    assert app.selectbox(key="inside_key").value == "strongest"


@pytest.fixture
def long_text(checkpoints: Path) -> str:
    """A text of 80 tokens, on an encoder that takes so many."""
    encoder = tiny.loaded(replace(tiny.TEXT, n_positions=80))
    checkpoint.save(checkpoints / "imdb-pre-ln", encoder.model, {}, encoder.tokenizer)
    return " ".join("abcdefghijklmnopqrstuvwxyz" * 3)


def test_of_many_keys_the_strongest_are_drawn_until_all_are_asked_for(opened, long_text):
    app = opened(text=long_text, checkpoint="imdb-pre-ln", query="0 [CLS]", inside_key="7 g")
    pattern = LiveSubject("imdb-pre-ln", long_text).record.pattern[0, 0, 0]
    *rows, others, z = (row for row in key_rows(app) if row.get("part") != "head")
    keys = [int(row["key"]["text"].split()[0]) for row in rows]
    assert set(keys) == {7, *np.argsort(-pattern)[:48].tolist()}
    assert keys == sorted(keys)
    assert any(text.startswith(f"{len(keys)} of 80 keys") for text in shown_texts(app))
    assert others["key"]["text"] == f"the other {80 - len(keys)}"
    weights = [pattern[keys].sum(), number(others["weight"]), number(z["weight"])]
    assert weights == pytest.approx([weights[0], 1 - weights[0], 1], abs=5.1e-4)

    app.toggle(key="inside_every_key").set_value(True).run()
    assert len(of_keys(app)) == 80
    assert not any("of 80 keys" in text for text in shown_texts(app))


def test_masked_keys_are_said_to_be_so(opened):
    app = opened(text="film [PAD] not", checkpoint="imdb-pre-ln", inside_key="2 [PAD]", inside_step="Mask")
    assert any("attend to 4 of 5 positions" in text for text in shown_texts(app))
    assert [row["weight"]["text"] == "masked" for row in of_keys(app)] == [False, False, True, False, False]
    assert any("key } 2" in text and "masked" in text for text in shown_texts(go_to(app, "softmax")))


def test_an_encoder_of_twelve_heads_can_be_followed(opened, checkpoints):
    encoder = tiny.loaded(replace(tiny.TEXT, d_model=48, n_heads=12))
    checkpoint.save(checkpoints / "imdb-pre-ln", encoder.model, {}, encoder.tokenizer)
    app = opened(text=TEXT, checkpoint="imdb-pre-ln", head="11")
    assert {len(row["products"]["strip"]["values"]) for row in of_keys(app)} == {4}
    rows = table(go_to(app, "output"), "component of o", "name", "value")
    assert rows["name"].nunique() == 12 + 2
    assert len(table(go_to(app, "concatenate"), "z of", "value")) == 48


def test_a_block_with_other_steps_gives_one_sentence(opened, checkpoints):
    encoder = tiny.loaded(replace(tiny.TEXT, norm_placement="b2t"))
    checkpoint.save(checkpoints / "imdb-pre-ln", encoder.model, {}, encoder.tokenizer)
    app = opened(checkpoint="imdb-pre-ln")
    assert app.info[0].value.startswith("The steps are those of pre-LN and post-LN blocks")


def boxes(app: AppTest) -> set[str]:
    """What of the choice of a head and a query can be chosen."""
    assert not app.exception
    widgets = (*app.selectbox, *app.segmented_control)
    return {widget.key for widget in widgets} & {"layer", "head", "scale", "query"}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("part", "needed"),
    [
        ({"inside": "Step by step"}, {"layer", "head", "scale", "query"}),
        ({"inside": "Why √d_k", "inside_scale": "random vectors"}, set()),
        ({"inside": "Why √d_k", "inside_scale": "this encoder"}, {"layer", "head"}),
        ({"inside": "Why √d_k", "inside_scale": "temperature"}, {"layer", "head", "scale", "query"}),
        ({"inside": "LayerNorm"}, {"layer", "head", "query"}),
    ],
)
def test_what_a_part_does_not_need_is_not_asked(opened, part, needed):
    without = {"layer", "head"} - needed
    assert boxes(opened(**address_of("imdb-pre-ln"), **part, forgiven=without)) == needed


def test_the_choice_of_a_head_outlasts_a_part_without_one(opened):
    app = opened(**address_of("imdb-pre-ln"), query="2 great")
    app.segmented_control(key="inside").set_value("Why √d_k").run()
    app.segmented_control(key="inside").set_value("LayerNorm").run()
    assert not app.exception
    assert [app.selectbox(key=key).value for key in ("layer", "head", "query")] == [1, 1, 2]
