"""The sides over a data set: pairs of heads, bands behind the stream, and the small family of seeds beside them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app_pages.subject.subject import LiveSubject
from model.atlas.results import LAYERS, comparison_file_name, write_comparison, write_results
from model.atlas.running_moments import Spread
from model.checkpoint import save, weights_hash
from model.measures.head_matching import distance_matrix, match_heads
from tests.app_pages.compare.test_page import TEXT, descriptions
from tests.app_pages.shown_text import explanations, page_text
from tests.model import tiny
from tests.model.atlas.invented_results import against, layers

PRE, POST = "imdb-pre-ln", "imdb-post-ln"
BACKWARDS = np.array([3, 2, 1, 0])


@pytest.fixture
def stored(checkpoints: Path) -> Path:
    """Over 30 examples each head of one is nearest to the head of the other with the opposite number."""
    mean = np.full((4, 4), 0.5)
    mean[np.arange(4), BACKWARDS] = [0.11, 0.12, 0.13, 0.14]
    result = against(
        weights=(weights_hash(PRE), weights_hash(POST)), distances=Spread(mean=mean, sd=mean / 10)
    )
    write_comparison(checkpoints / PRE / comparison_file_name(POST), result)
    for name in (PRE, POST):
        write_results(checkpoints / name / LAYERS, layers(weights=weights_hash(name)))
    return checkpoints


def put_seeds(folder: Path) -> None:
    for seed, name in enumerate(("pre-ln-seed0", "pre-ln-seed1", "post-ln-seed0")):
        made = tiny.loaded(replace(tiny.TEXT, norm_placement=name.partition("-")[0]), seed + 5)
        save(folder / f"small-{name}", made.model, {}, made.tokenizer)
    for one, other in (("pre-ln-seed0", "pre-ln-seed1"), ("pre-ln-seed0", "post-ln-seed0")):
        names = f"small-{one}", f"small-{other}"
        hashes = tuple(map(weights_hash, names))
        write_comparison(folder / names[0] / comparison_file_name(names[1]), against(weights=hashes))


# Heads


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(("first", "second"), [(PRE, POST), (POST, PRE)])
def test_heads_are_paired_over_the_data(open_compare, first, second):
    app = open_compare(text=TEXT, checkpoint=first, layer="0", head="1")
    assert app.segmented_control(key="compare_pairing").options == [
        "alike over 30 examples",
        "alike on this input",
        "of the same number",
    ]
    assert "**L0 H1** ↔ **L1 H0**" in page_text(app)
    here = distance_matrix(*(LiveSubject(name, TEXT).record.pattern for name in (first, second)))[1, 2]
    mean = 0.12 if first == PRE else 0.13
    assert f"{here:.3f} apart (max 0.69)" in page_text(app)
    message = explanations(app)
    assert f"Over 30 films it is {mean:.3f} ± {mean / 10:.3f} (mean ± standard deviation)" in message
    assert "on average over 30 films" in message


@pytest.mark.usefixtures("stored")
def test_heads_can_be_paired_on_this_input(open_compare):
    app = open_compare(text=TEXT, checkpoint=PRE, layer="0", head="0", compare_pairing="alike on this input")
    partner = match_heads(distance_matrix(*(LiveSubject(name, TEXT).record.pattern for name in (PRE, POST))))[
        0
    ]
    assert "**L0 H0** ↔ **L{} H{}**".format(*divmod(int(partner), 2)) in page_text(app)
    message = explanations(app)
    assert "smallest sum of distances on this input" in message
    assert (
        "5.0\N{THIN SPACE}% of them have the partner that they have over all" in message
    )  # (0 + 1 + 2 + 3) / (4 · 30)


@pytest.mark.usefixtures("stored")
def test_every_pair_stands_between_its_mean_and_this_input(open_compare):
    app = open_compare(text=TEXT, checkpoint=PRE, compare_view="distances of all heads")
    assert any(message.startswith("Head distances of 4 pairs") for message in descriptions(app))
    assert "**Over 30 films**; the dot is this input" in page_text(app)
    assert "No two seeds of such encoders were compared" in page_text(app)


def test_what_is_of_other_weights_is_not_used(open_compare, stored):
    made = tiny.loaded(replace(tiny.TEXT, masked_token_output=True), 11)
    save(stored / "mine", made.model, {}, made.tokenizer)
    (stored / "mine" / "model.safetensors").replace(stored / PRE / "model.safetensors")
    app = open_compare(text=TEXT, checkpoint=PRE)
    assert app.segmented_control(key="compare_pairing").options == [
        "alike on this input",
        "of the same number",
    ]
    assert "standard deviation" not in page_text(app)


def test_a_damaged_file_is_one_sentence(open_compare, stored):
    (stored / PRE / comparison_file_name(POST)).write_text("{")
    app = open_compare(text=TEXT, checkpoint=PRE)
    assert f"{PRE}/against-{POST}.json cannot be read" in page_text(app)
    assert app.segmented_control(key="compare_pairing").options == [
        "alike on this input",
        "of the same number",
    ]


# The stream


@pytest.mark.rest_is_slow
@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    "shown", ["norms", "shares", "answer by layer", "spread of the tokens", "entropy of the heads"]
)
def test_a_band_lies_behind_the_stream(open_compare, shown):
    app = open_compare(checkpoint=PRE, compare_part="Stream", compare_stream=shown)
    message = "Thick: this input. Dashed and shaded: mean ± standard deviation over 30 films."
    assert page_text(app).count(message) == 1


@pytest.mark.usefixtures("stored")
def test_two_inputs_on_one_encoder_have_no_band(open_compare):
    app = open_compare(checkpoint=PRE, compare_what="two inputs", compare_part="Stream")
    assert "Dashed" not in page_text(app)


def test_a_band_of_one_side_alone(open_compare, stored):
    (stored / POST / LAYERS).unlink()
    assert "over 30 films" in page_text(open_compare(checkpoint=PRE, compare_part="Stream"))
    (stored / PRE / LAYERS).write_text("PAR1")
    message = page_text(open_compare(checkpoint=PRE, compare_part="Stream"))
    assert f"{PRE}/layers.parquet cannot be read" in message
    assert "Dashed" not in message


# Seeds


def test_two_seeds_stand_beside_two_placements(open_compare, stored):
    put_seeds(stored)
    app = open_compare(text=TEXT, checkpoint=PRE, compare_part="Stream", compare_stream="representations")
    names = [f"{PRE} against {POST}", "pre-LN, two seeds", "pre-LN against post-LN, one seed"]
    assert f"CKA, over 5 stages, of {' and '.join(names)}" in descriptions(app)
    assert f"At the last stage: {'; '.join(f'{name} **0.40**' for name in names)}." in page_text(app)
    assert "began with the same random numbers" in page_text(app)
    app = open_compare(text=TEXT, checkpoint=PRE, compare_view="distances of all heads")
    assert f"head distance (nats), over 2 stages, of {' and '.join(names)}" in descriptions(app)


def test_the_family_is_not_set_beside_itself(open_compare, stored):
    put_seeds(stored)
    query = {"checkpoint": "small-pre-ln-seed1", "compare_with": "small-pre-ln-seed0"}
    app = open_compare(text=TEXT, compare_part="Stream", compare_stream="representations", **query)
    names = "small-pre-ln-seed1 against small-pre-ln-seed0 and pre-LN against post-LN, one seed"
    assert f"CKA, over 5 stages, of {names}" in descriptions(app)


def test_digits_are_not_set_beside_seeds_of_texts(open_compare, stored):
    put_seeds(stored)
    names = "mnist-pre-ln", "mnist-post-ln"
    write_comparison(
        stored / names[0] / comparison_file_name(names[1]), against(weights=tuple(map(weights_hash, names)))
    )
    app = open_compare(
        kind="Digit", checkpoint=names[0], compare_part="Stream", compare_stream="representations"
    )
    assert f"CKA, over 5 stages, of {names[0]} against {names[1]}" in descriptions(app)
    assert "No two seeds of such encoders" in page_text(app)
