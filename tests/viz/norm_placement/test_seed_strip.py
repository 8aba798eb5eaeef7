from tests.viz.scene import drawn, shown_texts
from viz.norm_placement.seed_strip import ACROSS, SeedLine, seed_strip
from viz.theory.placements import variant_channels

TITLES = {"title": "a claim", "axis": "length of the states"}
LINES = (
    SeedLine("texts: 1.0 apart", (0, 1), (1.0, 1.5), (2.0, 2.5)),
    SeedLine("digits: 0.3 apart", (0,), (1.25,), (1.5,)),
)


def test_a_dot_a_seed_below_what_is_written_of_the_line():
    figure = seed_strip(LINES, **TITLES)
    frame = figure.frame
    assert frame["value"].tolist() == [1.0, 1.5, 2.0, 2.5, 1.25, 1.5]
    assert frame["seed"].tolist() == ["seed 0", "seed 1"] * 2 + ["seed 0"] * 2
    texts = figure.frames["texts"]
    assert texts["label"].tolist() == [line.label for line in LINES]
    for text, line in zip(texts.itertuples(), LINES, strict=True):
        assert (frame[frame["measured"] == line.label]["y"] > text.y).all()
    assert frame["y"].max() < figure.specification["height"]


def test_distances_between_two_encoders_have_a_mark_of_their_own():
    line = SeedLine("heads", (0, 1), (0.1,), (0.2,), (0.3, 0.3, 0.4, 0.5))
    figure = seed_strip([line], **TITLES)
    assert figure.frame["variant"].value_counts().to_dict() == {"pre-LN": 1, "post-LN": 1, ACROSS: 4}
    assert f"length of the states (grey: {ACROSS})" in shown_texts(figure)


def test_dots_have_the_colours_of_both_placements_which_are_named():
    of_both = set(variant_channels(("pre-LN", "post-LN"))["color"].to_dict()["scale"]["range"])
    assert of_both <= {item.get("fill") for layer in drawn(seed_strip(LINES, **TITLES)) for item in layer}
    named, unnamed = (shown_texts(seed_strip(LINES, **TITLES, has_legend=has)) for has in (True, False))
    assert {"pre-LN", "post-LN"} <= set(named)
    assert not {"pre-LN", "post-LN"} & set(unnamed)


def test_the_means_are_written_beside_each_line():
    frame = seed_strip(LINES, **TITLES).frames["means"]
    assert frame["mean"].tolist() == ["1.25", "2.25", "1.25", "1.50"]
    assert frame["variant"].tolist() == ["pre-LN", "post-LN"] * 2
    assert set(frame["mean"]) <= set(shown_texts(seed_strip(LINES, **TITLES)))


def test_a_reference_is_drawn_where_there_is_one():
    assert seed_strip(LINES, **TITLES, reference=1.0, log=True).frames["reference"]["value"].tolist() == [1.0]
    assert seed_strip(LINES, **TITLES).frames["reference"].empty
