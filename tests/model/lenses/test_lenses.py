import numpy as np
import pytest

from model.capture import capture
from model.lenses import LENSES, through
from model.lenses.norms import alti, norm_weighted, with_residual_and_norm
from model.lenses.rollout import gradient_weighted_attention, record_of_rolled_out_maps, relevance, rollout
from model.lenses.value_zeroing import changes_of_layers, zeroing_record
from tests.model.lenses.lens_encoders import IMPORTED, PLACEMENTS, read_by

BY_HAND = {
    "attention": lambda *seen: seen[2],
    "norm-weighted": lambda loaded, _, record: norm_weighted(loaded.model, record),
    "residual and LayerNorm": lambda loaded, _, record: with_residual_and_norm(loaded.model, record),
    "ALTI": lambda loaded, _, record: alti(loaded.model, record),
    "ALTI, rolled out": lambda loaded, _, record: record_of_rolled_out_maps(alti(loaded.model, record)),
    "value zeroing": lambda loaded, _, record: zeroing_record(
        record, changes_of_layers(loaded.model, record)
    ),
    "value zeroing, rolled out": lambda loaded, _, record: record_of_rolled_out_maps(
        zeroing_record(record, changes_of_layers(loaded.model, record))
    ),
    "rollout": lambda *seen: rollout(seen[2]),
    "gradient × attention": lambda loaded, model_input, record: relevance(
        record, gradient_weighted_attention(loaded, model_input, 0)
    ),
}


def test_every_lens_is_described():
    assert list(LENSES) == list(BY_HAND)
    assert all(name == lens.name and lens.formula and lens.caution for name, lens in LENSES.items())


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("lens", LENSES)
def test_by_its_name(lens, tmp_path):
    loaded, model_input = read_by("pre", tmp_path)
    record = capture(loaded, model_input)
    expected = BY_HAND[lens](loaded, model_input, record).pattern
    np.testing.assert_array_equal(through(lens, loaded, model_input, 0).pattern, expected)
    np.testing.assert_array_equal(through(lens, loaded, model_input, 0, record=record).pattern, expected)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["pre", "post", *IMPORTED])
def test_what_every_map_is(name, tmp_path):
    loaded, model_input = read_by(name, tmp_path)
    config, n = loaded.config, len(capture(loaded, model_input))
    for name_of_lens, lens in LENSES.items():
        pattern = through(name_of_lens, loaded, model_input).pattern
        assert pattern.shape == (config.n_layers, config.n_heads if lens.has_heads else 1, n, n)
        assert pattern.dtype == np.float32
        assert np.isfinite(pattern).all()
        assert (pattern >= 0).all()
        if lens.sums_to_1:
            np.testing.assert_allclose(pattern.sum(axis=-1), 1, rtol=1e-4)
        else:
            assert pattern.max() == 1


def test_an_unknown_lens_is_named_with_the_known_ones(tmp_path):
    loaded, model_input = read_by("pre", tmp_path)
    with pytest.raises(KeyError, match="no lens 'fish'; there are attention, norm-weighted"):
        through("fish", loaded, model_input)


def test_encoders_of_every_placement_are_tried():
    assert {config.norm_placement for config in PLACEMENTS.values()} == {"pre", "post", "deepnorm", "b2t"}
