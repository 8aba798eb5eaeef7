import pytest

from viz.inside.scales import scale_colour, scale_name


@pytest.mark.parametrize(
    ("power", "name"), [(0.0, "1"), (0.5, "1/√d_k"), (1.0, "1/d_k"), (0.25, "d_k^−0.25")]
)
def test_a_scale_is_named_as_it_is_written(power, name):
    assert scale_name(power) == name


def test_each_scale_has_a_colour_of_its_own():
    scale = scale_colour([0.0, 0.25, 0.5, 1.0]).to_dict()["scale"]
    assert scale["domain"] == ["1", "d_k^−0.25", "1/√d_k", "1/d_k"]
    assert len(set(scale["range"])) == 4
