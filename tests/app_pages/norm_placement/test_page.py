import re
import shutil
from pathlib import Path
from statistics import fmean

import pytest

from app_pages.norm_placement.claim_row import link_of
from model.claims.catalogue import CLAIMS
from model.claims.verdict import CLAIMS_FILE as STORED
from model.claims.verdict import COMMAND, read_measurements, write_measurements
from model.theory import gradients_at_start
from model.theory.digit_training import RUNS
from model.train.warmup import write_runs
from tests.app_pages.shown_text import page_text
from tests.app_pages.theory.test_page import RUN
from tests.model.claims.invented_measurements import invented, of_every_claim

PAGE = "app_pages/norm_placement/page.py"
BLOCKS = 2  # of both placements


def test_without_measurements_the_page_says_how_to_make_them(open_app):
    text = page_text(open_app(PAGE))
    assert "Nothing is measured yet" in text
    assert COMMAND in text


@pytest.mark.parametrize("content", ["{", '{"command": "c", "measured": [{}]}'])
def test_a_damaged_file_is_said_to_be_so(open_app, checkpoints, content):
    (checkpoints / STORED).write_text(content)
    text = page_text(open_app(PAGE))
    assert "claims.json cannot be read" in text
    assert COMMAND in text


def test_every_claim_has_its_row(open_app, checkpoints):
    write_measurements(checkpoints / STORED, of_every_claim())
    closed = open_app(PAGE)
    assert len(closed.get("vega_lite_chart")) == BLOCKS + len(CLAIMS)
    assert all(claim.says in page_text(closed) for claim in CLAIMS)
    n_claimed, n_own = (sum(bool(claim.by) == is_claimed for claim in CLAIMS) for is_claimed in (True, False))
    assert f"**{n_claimed} claims of papers**: " in page_text(closed)  # who claims nothing is not counted
    assert page_text(closed).count("Our own question.") == n_own == 4
    app = open_app(PAGE, **{f"norm_{claim.key}": "true" for claim in CLAIMS})
    text = page_text(app)
    assert all(claim.by in text and claim.measured in text for claim in CLAIMS)
    assert len(app.get("vega_lite_chart")) == BLOCKS + len(CLAIMS)
    links = app.get("page_link")
    pages = [link.proto.page or "attention" for link in links]  # the first page has no name in the address
    assert pages[-len(CLAIMS) :] == [link_of(claim.key)[0] for claim in CLAIMS]  # after the navigation
    assert "in 1 of 10 comparisons" in text  # what chance alone would do
    assert text.count("Standard error: up to ") == 1


def test_the_verdict_says_no_more_than_the_numbers(open_app, checkpoints):
    rising = tuple(1.0 + seed / 100 for seed in range(16))
    write_measurements(checkpoints / STORED, [invented((0.0,) * 16, rising)])
    text = page_text(open_app(PAGE, norm_stream="true"))
    expected = "**Does not hold**, the opposite does: encoders (0 of 16 pairs, p\u00a0=\u00a03 × 10⁻⁵)\n"
    assert expected in text
    assert "**Holds**:" not in text


def test_numbers_show_what_has_no_verdict_too(open_app, checkpoints):
    few = invented((3.0, 3.5), (1.0, 1.0), where="pairs of two")
    write_measurements(
        checkpoints / STORED, [invented((3.0, 3.1, 3.2), (1.0, 1.0, 1.0), where="enough"), few]
    )
    closed, opened = (open_app(PAGE, **query) for query in ({}, {"norm_stream": "true"}))
    assert "pairs of two" not in page_text(closed)
    assert "| pairs of two | 2 | **3.25** (3.00 to 3.50) | **1.00** (1.00 to 1.00) |" in page_text(opened)


def test_a_rate_at_which_nothing_is_learned_is_left_out(open_app, checkpoints):
    guesses = {"where": "rate 1", "source": "fresh"}
    write_measurements(
        checkpoints / STORED,
        [
            invented((0.6,) * 16, (0.1,) * 16, figure="reached with warm-up", **guesses),
            invented((0.5,) * 16, (0.1,) * 16, figure="reached without warm-up", **guesses),
        ],
    )
    app = open_app(PAGE, norm_warm_up="true")
    (verdict,) = (
        text.value for text in app.markdown if "rate 1" in text.value and "| rate 1 |" not in text.value
    )
    assert verdict == "Left out, post-LN only guesses there: rate 1"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_the_link_of_a_claim_opens_its_figure(open_app, checkpoints, monkeypatch, claim):
    for pre, name in (("pre", "sentences-pre-ln-seed0"), ("post", "sentences-post-ln-seed0")):
        shutil.copytree(checkpoints / f"imdb-{pre}-ln", checkpoints / name)
    write_runs(checkpoints / RUNS, [RUN])
    monkeypatch.setattr(gradients_at_start, "N_SEQUENCES", 4)
    page, query = link_of(claim.key)
    smaller = {"theory_depth": "4", "theory_seeds": "2"} if page == "theory" else {}
    assert not open_app(f"app_pages/{page}/page.py", **query | smaller).exception


def test_a_claim_that_nobody_measured_says_so(open_app, checkpoints):
    write_measurements(checkpoints / STORED, [invented((3.0, 3.1, 3.2), (1.0, 1.0, 1.0))])
    app = open_app(PAGE)
    text = page_text(app)
    assert len(app.get("vega_lite_chart")) == BLOCKS + 1
    assert text.count("Not measured") == len(CLAIMS) - 1


def test_the_contradictions_have_the_numbers_of_the_file_that_is_shipped(open_app, checkpoints):
    shipped_file = Path(__file__).parents[3] / "checkpoints" / STORED
    shutil.copy(shipped_file, checkpoints)
    text = page_text(open_app(PAGE))
    means = {
        (measurement.figure, measurement.where): [fmean(measurement.pre), fmean(measurement.post)]
        for measurement in read_measurements(shipped_file)
        if measurement.across is None
    }
    last, overall = (
        means[f"gradient of {what}", "digit encoders, untrained"]
        for what in ("the last layer", "all parameters")
    )
    assert f"(pre-LN {last[0]:.2f}, post-LN {last[1]:.2f})" in text
    assert f"(pre-LN {overall[0]:.1f}, post-LN {overall[1]:.1f})" in text
    shares = [
        f"{means[figure, f'full size, rate {rate}, {steps} steps of warm-up'][1]:.0%}"
        for rate in ("0.001", "0.003")
        for figure, steps in (
            ("reached without warm-up", 30),
            ("reached with warm-up", 30),
            ("reached with warm-up", 100),
        )
    ]
    assert [
        share.replace("\u202f", "")
        for share in re.findall(r"\d+\u202f%", text[text.index("Without warm-up, post-LN") :])
    ] == shares


def test_what_is_measured_meanwhile_is_read(open_app, checkpoints):
    app = open_app(PAGE)
    write_measurements(checkpoints / STORED, of_every_claim())
    assert CLAIMS[0].says in page_text(app.run())
