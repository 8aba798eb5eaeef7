import pytest
from streamlit.testing.v1 import AppTest

from app_pages.compare.recipe import UNKNOWN, recipe_facts
from model.checkpoint.training_history import check_history

PHASE = {"task": "digits", "epochs": 2, "batch_size": 16, "learning_rate": 0.002, "warmup": 0.05}
RECIPE = {"preset": "x", "phases": [PHASE], "seed": 0, "betas": [0.9, 0.98], "gradient_clip": 1.0}


def drawn(first: dict, second: dict) -> AppTest:
    def page(first, second):
        from app_pages.compare.recipe import draw_recipes

        draw_recipes(("one", first), ("other", second))

    for history in (first, second):
        check_history(history)
    app = AppTest.from_function(page, args=(first, second)).run()
    assert not app.exception
    return app


def cells(app: AppTest) -> dict[str, tuple[str, str]]:
    rows = (line.strip("| ").split(" | ") for line in app.markdown[0].value.splitlines()[2:])
    return {fact: (one, other) for fact, one, other in rows}


def test_a_card_tells_what_the_recipe_says():
    said = recipe_facts(
        {"recipe": RECIPE | {"published": "97 %"}, "precision": "bf16", "went_on_from": {"a": 1}}
    )
    assert said == {
        "optimiser": "AdamW",
        "Adam's β": "0.9, 0.98",
        "clipping": "gradients to a norm of 1.0",
        "seed": "0",
        "precision": "bf16",
        "began from": "another encoder",
        "published": "97 %",
        "phase 1": "digits · 2 epochs · batches of 16 · rate 0.002 · warm-up over 5\N{THIN SPACE}% of the steps",
    }
    rest = {"falls": False, "weight_decay": 0.1, "dropout": True, "optimizer": "muon", "warmup": 0}
    (phase,) = (
        each for name, each in recipe_facts({"recipe": {"phases": [PHASE | rest]}}).items() if "phase" in name
    )
    assert phase.endswith(
        "Muon and AdamW · rate 0.002 · no warm-up · then stays · weight decay 0.1 · dropout"
    )


def test_what_differs_is_bold():
    other = RECIPE | {"seed": 1, "gradient_clip": None, "phases": [PHASE | {"learning_rate": 0.1}, PHASE]}
    found = cells(drawn({"recipe": RECIPE}, {"recipe": other}))
    assert found["seed"] == ("**0**", "**1**")
    assert found["optimiser"] == ("AdamW", "AdamW")
    assert found["clipping"] == ("**gradients to a norm of 1.0**", "**none**")
    assert "16 · **rate 0.002** · warm-up" in found["phase 1"][0]
    assert "16 · **rate 0.1** · warm-up" in found["phase 1"][1]
    assert found["phase 2"][0] == "**none**"
    assert found["precision"] == (UNKNOWN, UNKNOWN)


def test_muon_is_pointed_out():
    with_muon = {"recipe": RECIPE | {"phases": [PHASE | {"optimizer": "muon"}, PHASE]}}
    (said,) = (each.value for each in drawn({"recipe": RECIPE}, with_muon).markdown[1:])
    assert said.startswith("Muon trained the matrices of other in some phases. The papers")
    assert 'href="./norm_placement"' in said
    assert len(drawn({"recipe": RECIPE}, {"recipe": RECIPE}).markdown) == 1


@pytest.mark.parametrize(
    "history",
    [{}, {"recipe": {}}, {"recipe": {"phases": []}}, {"recipe": {"phases": [{"task": "a|b **c**"}]}}],
)
def test_little_can_be_known(history):
    found = drawn(history, {"recipe": RECIPE})
    assert cells(found)["seed"] == (f"**{UNKNOWN}**", "**0**")


def test_nothing_can_be_known():
    assert drawn({}, {}).markdown[0].value == "Nothing is known of how they were trained."


def test_strange_values_break_nothing():
    strange = {"task": "x", "warmup": "long", "learning_rate": [1], "optimizer": ["a"], "epochs": None}
    recipe = {"phases": [strange], "betas": 3, "gradient_clip": "much", "seed": {"a": 1}}
    assert "rate" in str(cells(drawn({"recipe": recipe}, {"recipe": RECIPE})))
