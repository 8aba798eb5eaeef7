import pytest

from viz.theory.variant_colours import variant_colours


def test_a_variant_keeps_its_colour_whichever_others_are_there():
    alone = variant_colours(["B2T"])["color"].to_dict()["scale"]
    among = variant_colours(["pre-LN", "post-LN", "B2T"])["color"].to_dict()["scale"]
    assert alone["range"][0] == among["range"][among["domain"].index("B2T")]
    assert len(set(among["range"])) == 3


def test_without_residual_connections_the_colour_stays_and_the_line_is_dashed():
    channels = variant_colours(["post-LN", "post-LN without residual"])
    colours, dashes = (channels[name].to_dict()["scale"]["range"] for name in ("color", "strokeDash"))
    shapes = channels["shape"].to_dict()["scale"]["range"]
    assert colours[0] == colours[1]
    assert shapes[0] == shapes[1]
    assert dashes[0] != dashes[1]


def test_an_unknown_placement_is_an_error():
    with pytest.raises(KeyError, match="sandwich"):
        variant_colours(["sandwich"])
