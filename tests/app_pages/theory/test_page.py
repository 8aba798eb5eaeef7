import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.claims.catalogue import CLAIMS
from model.claims.verdict import CLAIMS_FILE, overall_verdict, write_measurements
from model.theory import gradients_at_start
from model.theory.digit_training import RUNS, WarmupRun, model_update
from model.theory.gradients_at_start import VARIANTS, UntrainedConfig, initial_norms, slopes, sweep_depths
from model.train.warmup import write_runs
from tests.app_pages.charts import table
from tests.app_pages.shown_text import page_text
from tests.model.claims.invented_measurements import of_every_claim

SMALL = {"theory_depth": "4", "theory_seeds": "2", "theory_width": "32"}
FIRST_STEPS = SMALL | {"theory_part": "First steps", "theory_steps": "5"}
SETTING = UntrainedConfig(d_model=32)
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


@pytest.fixture
def open_theory(open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    monkeypatch.setattr(gradients_at_start, "N_SEQUENCES", 4)
    return lambda **query: open_app("app_pages/theory/page.py", **query)


def charts(app: AppTest) -> list[dict]:
    assert not app.exception
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


# Before training


@pytest.mark.slow
def test_a_fresh_start_shows_three_figures_of_five_seeds_and_the_theorem_s_setting(open_theory):
    app = open_theory()
    assert len(charts(app)) == 3
    assert app.pills(key="theory_variants").value == ["pre-LN", "post-LN"]
    assert app.slider(key="theory_seeds").value == 5
    assert app.expander[0].label.count("6 of 6 hold for these encoders")
    assert "12 layers ÷ 2 " in page_text(app)


@pytest.mark.slow
def test_slopes_are_those_of_what_is_measured_and_every_variant_can_be_shown_and_none(open_theory):
    app = open_theory(**SMALL)
    depths = sweep_depths(4)
    for variant in ("pre-LN", "post-LN"):
        norms = [
            [initial_norms(SETTING, variant, depth, seed).gradient[-1] for depth in depths]
            for seed in range(2)
        ]
        mean = f"{round(slopes(depths, np.array(norms))[0], 2):+.2f}".replace("-", "−")
        assert f" | **{mean}** (" in page_text(app)
    both = [app.pills(key=key) for key in ("theory_variants", "theory_more")]
    for pills in both:
        pills.set_value(list(pills.options))
    app.run()
    assert len(charts(app)) == 3
    assert all(f"\n| {variant} | " in page_text(app) for variant in VARIANTS)
    for pills in both:
        app.pills(key=pills.key).set_value([])
    app.run()
    assert not charts(app)
    assert "at least one placement" in app.info[0].value


def test_hidden_norms_are_told_against_the_lemma(open_theory):
    text = page_text(open_theory(**SMALL))
    lemma = gradients_at_start.lemma_2(4, 32)
    norms = {
        variant: np.mean([initial_norms(SETTING, variant, 4, seed).hidden for seed in range(2)], axis=0)
        for variant in ("pre-LN", "post-LN")
    }
    inside = sum(
        low <= norm <= high for low, norm, high in zip(lemma[0], norms["pre-LN"], lemma[1], strict=True)
    )
    assert f"inside the band after **{inside} of 4** layers" in text
    off = max(abs(norm / line - 1) for norm, line in zip(norms["post-LN"], lemma[2], strict=True))
    assert f"at most **{100 * off:.0f} %** away from the line" in text


def test_one_depth_has_no_slope(open_theory):
    app = open_theory(**SMALL | {"theory_depth": "2"})
    assert len(charts(app)) == 3
    assert "One depth has no slope" in page_text(app)


def test_an_assumption_that_is_not_met_is_named(open_theory):
    app = open_theory(theory_start="Xavier", theory_ff="4 d", **SMALL)
    assert app.expander[0].label.count("3 of 6 hold for these encoders")
    assert page_text(app).count("**not met**") == 3


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("over", "field"),
    [("of each sequence, then averaged", "gradient"), ("of all sequences together", "mean_gradient")],
)
def test_gradients_by_layer_are_averaged_as_chosen(open_theory, over, field):
    app = open_theory(theory_over=over, **SMALL | {"theory_seeds": "1"})
    result = getattr(initial_norms(SETTING, "pre-LN", 4, 0), field)
    assert f"| pre-LN | {result[0]:.3g} | {result[-1]:.3g} |" in page_text(app)


def test_claims_have_the_verdicts_of_norm_placement(open_theory, checkpoints):
    assert "over all encoders on [Norm placement]" not in page_text(open_theory(**SMALL))
    measured = of_every_claim()
    write_measurements(checkpoints / CLAIMS_FILE, measured)
    text = page_text(open_theory(**SMALL))
    for claim in (claim for claim in CLAIMS if claim.key in ("last_depth", "toward_output", "stream")):
        verdict = overall_verdict(claim.judgements(measured)).verdict.value
        assert f"“{claim.says[:-1]}” ({claim.by}): **{verdict}**, over all encoders on [Norm pl" in text


def test_nothing_is_measured_twice(open_theory, monkeypatch):
    app = open_theory(**SMALL)
    measured = []
    monkeypatch.setattr(gradients_at_start, "initial_norms", lambda *key: measured.append(key))
    app.segmented_control(key="theory_over").set_value("of all sequences together").run()
    assert len(charts(app)) == 3
    assert not measured


@pytest.mark.slow
def test_nonsense_in_the_address_falls_back(open_theory):
    nonsense = {
        f"theory_{key}": "7e" for key in ("depth", "seeds", "width", "heads", "start", "gain", "part")
    }
    app = open_theory(**nonsense, theory_variants="sandwich", forgiven=[*nonsense, "theory_variants"])
    assert len(charts(app)) == 3
    assert app.slider(key="theory_depth").value == 12


# First steps


def test_the_update_is_the_one_that_is_measured(open_theory):
    app = open_theory(**FIRST_STEPS, theory_rate="0.001")
    assert len(charts(app)) == 1
    options = {"learning_rate": 1e-3, "warmup": 0, "n_steps": 5}
    moved = [model_update(SETTING, "post-LN", 4, seed=seed, **options) for seed in range(2)]
    (first, last), smallest, largest = (
        np.asarray(summary(moved, axis=0))[[1, -1]] for summary in (np.mean, np.min, np.max)
    )
    ranges = [f"{low:.2f} to {high:.2f}" for low, high in zip(smallest, largest, strict=True)]
    assert f"| post-LN | **{first:.2f}** ({ranges[0]}) | {last:.2f} ({ranges[1]}) |" in page_text(app)


@pytest.mark.slow
def test_warm_up_and_a_log_axis(open_theory):
    app = open_theory(**FIRST_STEPS, theory_warmup="10 steps")
    assert page_text(app) != page_text(open_theory(**FIRST_STEPS))
    app.segmented_control(key="theory_update_axis").set_value("log").run()
    (chart,) = charts(app)
    assert '"type": "log"' in json.dumps(chart)


# Learning rate and warm-up


def test_without_stored_runs_the_page_says_so(open_theory):
    assert "There are no stored runs" in open_theory(**FIRST_STEPS).info[0].value


def test_stored_runs_are_one_figure(open_theory, checkpoints):
    write_runs(checkpoints / RUNS, [RUN, DIVERGED])
    app = open_theory(**FIRST_STEPS)
    accuracies = table(app, "Accuracy over learning rate", "written")["written"].tolist()
    assert accuracies == ["90\u2009%", "diverged"]
    assert "300 steps" in page_text(app)


def test_a_damaged_file_of_stored_runs_is_said_in_a_sentence(open_theory, checkpoints):
    (checkpoints / RUNS).parent.mkdir()
    (checkpoints / RUNS).write_text("[1]")
    message = "cannot be shown: warmup/runs.json cannot be read"
    assert message in page_text(open_theory(**FIRST_STEPS))
