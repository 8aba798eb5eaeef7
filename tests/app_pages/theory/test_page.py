import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.controls.theory_controls import FEED_FORWARD, N_STEPS, PART, RATE, START, WARM_UP_STEPS
from model.claims.catalogue import CLAIMS
from model.claims.verdict import CLAIMS_FILE, overall_verdict, write_measurements
from model.theory import gradients_at_start
from model.theory.digit_training import RUNS, WarmupRun, model_update
from model.theory.gradients_at_start import VARIANTS, UntrainedConfig, slopes, sweep_depths
from model.train.warmup import write_runs
from tests.app_pages.charts import table
from tests.model.claims.invented_measurements import of_every_claim

PAGE = "app_pages/theory/page.py"
SMALL = {"theory_depth": "4", "theory_seeds": "2", "theory_width": "32"}
STEPS = "First steps"
RUN = WarmupRun(
    norm_placement="pre",
    learning_rate=1e-3,
    warmup=0,
    n_steps=300,
    steps=(0, 100, 200),
    losses=(2.3, 1.0, 0.5),
    final_loss=0.5,
    accuracy=0.9,
    precision="fp32",
)
DIVERGED = WarmupRun(
    norm_placement="post",
    learning_rate=1e-2,
    warmup=0,
    n_steps=300,
    steps=(0, 100),
    losses=(2.3, None),
    final_loss=None,
    accuracy=None,
    precision="fp32",
)


@pytest.fixture(autouse=True)
def few_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradients_at_start, "N_SEQUENCES", 4)


def charts(app: AppTest) -> list[dict]:
    assert not app.exception
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def shown_text(app: AppTest) -> str:
    return "\n".join(block.value for block in app.markdown)


# Before training


@pytest.mark.slow
def test_a_fresh_start_shows_three_figures_of_five_seeds_and_the_theorem_s_setting(open_app):
    app = open_app(PAGE)
    assert len(charts(app)) == 3
    assert app.pills(key="theory_variants").value == ["pre-LN", "post-LN"]
    assert app.slider(key="theory_seeds").value == 5
    assert app.expander[0].label.count("6 of 6 hold for these encoders")
    assert "12 layers ÷ 2 " in shown_text(app)


@pytest.mark.slow
def test_slopes_are_those_of_what_is_measured_and_every_variant_can_be_shown_and_none(open_app):
    app = open_app(PAGE, **SMALL)
    setting, depths = UntrainedConfig(d_model=32), sweep_depths(4)
    for variant in ("pre-LN", "post-LN"):
        norms = [
            [gradients_at_start.initial_norms(setting, variant, depth, seed).gradient[-1] for depth in depths]
            for seed in range(2)
        ]
        mean = f"{round(slopes(depths, np.array(norms))[0], 2):+.2f}".replace("-", "−")
        assert f" | **{mean}** (" in shown_text(app)
    both = [app.pills(key=key) for key in ("theory_variants", "theory_more")]
    for pills in both:
        pills.set_value(list(pills.options))
    app.run()
    assert len(charts(app)) == 3
    assert all(f"\n| {variant} | " in shown_text(app) for variant in VARIANTS)
    for pills in both:
        app.pills(key=pills.key).set_value([])
    app.run()
    assert not charts(app)
    assert "at least one placement" in app.info[0].value


def test_hidden_norms_are_told_against_the_lemma(open_app):
    text = shown_text(open_app(PAGE, **SMALL))
    norms, lemma = (
        {
            variant: np.mean(
                [
                    gradients_at_start.initial_norms(UntrainedConfig(d_model=32), variant, 4, seed).hidden
                    for seed in range(2)
                ],
                axis=0,
            )
            for variant in ("pre-LN", "post-LN")
        },
        gradients_at_start.lemma_2(4, 32),
    )
    inside = sum(
        low <= norm <= high for low, norm, high in zip(lemma[0], norms["pre-LN"], lemma[1], strict=True)
    )
    assert f"inside the band after **{inside} of 4** layers" in text
    off = max(abs(norm / line - 1) for norm, line in zip(norms["post-LN"], lemma[2], strict=True))
    assert f"at most **{off:.0%}".replace("%", "\u2009%") + "** away from the line" in text


def test_one_depth_has_no_slope(open_app):
    app = open_app(PAGE, **SMALL | {"theory_depth": "2"})
    assert len(charts(app)) == 3
    assert "One depth has no slope" in shown_text(app)


def test_an_assumption_that_is_not_met_is_named(open_app):
    app = open_app(PAGE, START.to("Xavier"), FEED_FORWARD.to("4 d"), **SMALL)
    assert app.expander[0].label.count("3 of 6 hold for these encoders")
    assert shown_text(app).count("**not met**") == 3


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["gradient", "mean_gradient"])
def test_gradients_by_layer_are_averaged_as_chosen(open_app, kind):
    over = {"gradient": "of each sequence, then averaged", "mean_gradient": "of all sequences together"}[kind]
    app = open_app(PAGE, theory_over=over, **SMALL | {"theory_seeds": "1"})
    result = getattr(gradients_at_start.initial_norms(UntrainedConfig(d_model=32), "pre-LN", 4, 0), kind)
    assert f"| pre-LN | {result[0]:.3g} | {result[-1]:.3g} |" in shown_text(app)


def test_claims_have_the_verdicts_of_norm_placement(open_app, checkpoints):
    assert "Norm placement" not in shown_text(open_app(PAGE, **SMALL))
    measured = of_every_claim()
    write_measurements(checkpoints / CLAIMS_FILE, measured)
    text = shown_text(open_app(PAGE, **SMALL))
    for claim in (claim for claim in CLAIMS if claim.key in ("last_depth", "toward_output", "stream")):
        verdict = overall_verdict(claim.judgements(measured)).verdict.value
        assert f"“{claim.says[:-1]}” ({claim.by}): **{verdict}**" in text


def test_nothing_is_measured_twice(open_app, monkeypatch):
    app = open_app(PAGE, **SMALL)
    measured = []
    monkeypatch.setattr(gradients_at_start, "initial_norms", lambda *key: measured.append(key))
    app.segmented_control(key="theory_over").set_value("of all sequences together").run()
    assert len(charts(app)) == 3
    assert not measured


@pytest.mark.slow
def test_nonsense_in_the_address_falls_back(open_app):
    nonsense = {
        f"theory_{key}": "7e" for key in ("depth", "seeds", "width", "heads", "start", "gain", "part")
    }
    app = open_app(PAGE, **nonsense, theory_variants="sandwich", forgiven=[*nonsense, "theory_variants"])
    assert len(charts(app)) == 3
    assert app.slider(key="theory_depth").value == 12


# First steps


def test_the_update_is_the_one_that_is_measured(open_app):
    app = open_app(PAGE, PART.to(STEPS), N_STEPS.to(5), RATE.to(0.001), **SMALL)
    assert len(charts(app)) == 1
    moved = [
        model_update(
            UntrainedConfig(d_model=32), "post-LN", 4, learning_rate=1e-3, warmup=0, n_steps=5, seed=seed
        )
        for seed in range(2)
    ]
    (first, last), smallest, largest = (
        np.asarray(summary(moved, axis=0))[[1, -1]] for summary in (np.mean, np.min, np.max)
    )
    ranges = [f"{low:.2f} to {high:.2f}" for low, high in zip(smallest, largest, strict=True)]
    assert f"| post-LN | **{first:.2f}** ({ranges[0]}) | {last:.2f} ({ranges[1]}) |" in shown_text(app)


@pytest.mark.slow
def test_warm_up_and_a_log_axis(open_app):
    app = open_app(PAGE, PART.to(STEPS), N_STEPS.to(5), WARM_UP_STEPS.to("10 steps"), **SMALL)
    cold = shown_text(open_app(PAGE, PART.to(STEPS), N_STEPS.to(5), **SMALL))
    assert shown_text(app) != cold
    app.segmented_control(key="theory_update_axis").set_value("log").run()
    (chart,) = charts(app)
    assert '"type": "log"' in json.dumps(chart)


# Learning rate and warm-up


def test_without_stored_runs_the_page_says_so(open_app):
    app = open_app(PAGE, PART.to(STEPS), N_STEPS.to(5), **SMALL)
    assert "There are no stored runs" in app.info[0].value


def test_stored_runs_are_one_figure(open_app, checkpoints):
    write_runs(checkpoints / RUNS, [RUN, DIVERGED])
    app = open_app(PAGE, PART.to(STEPS), N_STEPS.to(5), **SMALL)
    assert table(app, "Accuracy over learning rate", "written")["written"].tolist() == [
        "90\u2009%",
        "diverged",
    ]
    assert "300 steps" in shown_text(app)


def test_a_damaged_file_of_stored_runs_is_said_in_a_sentence(open_app, checkpoints):
    (checkpoints / RUNS).parent.mkdir()
    (checkpoints / RUNS).write_text("[1]")
    app = open_app(PAGE, PART.to(STEPS), N_STEPS.to(5), **SMALL)
    assert not app.exception
    assert "cannot be shown: warmup/runs.json cannot be read" in app.info[0].value
