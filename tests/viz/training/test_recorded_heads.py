import numpy as np
import pytest

from tests.viz.pixels import pixels
from viz.builders.palette import LETTERS, POST_LN, PRE_LN, WEIGHTS
from viz.export.save import numbers_table
from viz.training.recorded_heads import recorded_heads
from viz.training.recording import N_COLOURS, Run, head_sheets, shared_png

# Two moments of one layer with two heads on two tokens, in 255ths: every second weight is 0, then the weights are even.
PATTERN = np.array([[[[[255, 0], [0, 255]], [[0, 255], [255, 0]]]], [[[[128, 127]] * 2] * 2]], np.uint8)
HALF = 1 + round(128 / 255 * (N_COLOURS - 1))


def run(n: int = 2, name: str = "pre", **changed: object) -> Run:
    values = {
        "name": name,
        "colour": PRE_LN,
        "pattern": np.repeat(PATTERN[:1], n, axis=0),
        "tokens": ["a", "head"],
        "step": np.arange(n) * 10,
        "n_steps": 10 * n,
        "phase": np.zeros(n, int),
        "tasks": ["digits"],
        "accuracy": np.linspace(0.1, 0.9, n),
    }
    values |= changed
    return Run(**{"examples": [(9, "digits")] * len(values["tasks"])} | values)


def test_the_file_holds_the_weights_of_the_shown_moment_of_each_encoder():
    runs = [run(3, pattern=np.concatenate([PATTERN, PATTERN[:1]])), run(3, name="post")]
    file = numbers_table(recorded_heads(runs, moment=1, alone=True))
    assert list(file.columns) == [
        *("encoder", "training step", "phase", "accuracy", "layer", "head", "query", "a", "head (2)")
    ]
    assert file["encoder"].tolist() == ["pre"] * 4 + ["post"] * 4
    assert set(file["training step"]) == {10}
    np.testing.assert_allclose(file[["a", "head (2)"]][:4], [[128 / 255, 127 / 255]] * 4)
    np.testing.assert_allclose(file[["a", "head (2)"]][4:], [[1, 0], [0, 1], [0, 1], [1, 0]])


def test_a_moment_is_one_picture_of_all_heads_with_gaps():
    first, second = head_sheets(PATTERN, own=False, is_rooted=False)
    all_of_it = N_COLOURS
    assert first.tolist() == [[all_of_it, 1, 0, 1, all_of_it], [1, all_of_it, 0, all_of_it, 1]]
    assert second.tolist() == [[HALF, HALF - 1, 0, HALF, HALF - 1]] * 2


def test_colours_end_at_a_heads_largest_weight_of_all_moments():
    pattern = PATTERN.copy()
    pattern[:, :, 1] //= 2
    own = head_sheets(pattern, own=True, is_rooted=False)
    assert own[0, 0].tolist() == [N_COLOURS, 1, 0, 1, N_COLOURS]
    assert own[1, 0, 0] == HALF


def test_faint_weights_are_coloured_by_their_square_root():
    pattern = np.full((1, 1, 1, 1, 2), 255 // 4, np.uint8)
    assert head_sheets(pattern, own=False, is_rooted=True)[0, 0, 0] == pytest.approx(N_COLOURS / 2, abs=1)


def test_a_head_without_any_weight_has_no_colour():
    assert (head_sheets(np.zeros((1, 1, 1, 2, 2), np.uint8), own=True, is_rooted=True) == 1).all()


def test_a_picture_is_a_beginning_for_the_page_and_a_rest():
    sheets = head_sheets(PATTERN, own=False, is_rooted=False)
    (on_light, on_dark), rests = shared_png(sheets)
    assert len(rests) == len(sheets)
    for start, none, all_of_it in (
        (on_light, WEIGHTS[0], WEIGHTS[-1]),
        (on_dark, WEIGHTS[-1], WEIGHTS[0]),
    ):
        picture = pixels(start + rests[0])
        assert picture.shape == (2, 5, 4)
        assert ["#" + bytes(pixel[:3]).hex() for pixel in picture[0, :2]] == [all_of_it, none]
        assert picture[:, 2, 3].tolist() == [0, 0]  # the gap is clear
        assert picture[0, :2, 3].tolist() == [255, 255]


def test_every_moment_is_shown_once_and_a_shorter_run_at_the_same_share():
    figure = recorded_heads([run(5), run(3, "post")])
    pictures = figure.frames["pictures"]
    shown = [
        pictures[(pictures["first"] <= moment) & (pictures["last"] >= moment)]["side"].tolist()
        for moment in range(5)
    ]
    assert shown == [[0, 1]] * 5
    of_short = figure.frame[figure.frame["side"] == 1]
    assert (of_short["first"].tolist(), of_short["last"].tolist()) == ([0, 2, 3], [1, 2, 4])


def test_a_figure_for_a_file_has_the_pictures_of_its_moment_alone():
    figure = recorded_heads([run(5), run(3, "post")], moment=2, alone=True)
    assert len(figure.frames["pictures"]) == 2
    assert figure.frames["state"]["moment"].tolist() == [2]
    assert len(figure.frame) == 8  # the curves are whole


def test_layers_of_one_head_stand_beside_each_other():
    pattern = np.zeros((2, 3, 1, 2, 2), np.uint8)
    frames = recorded_heads([run(pattern=pattern)]).frames
    assert frames["sides"][["rows", "columns"]].to_numpy().tolist() == [[2, 8]]
    above = frames["names"][frames["names"]["is_above"]]
    assert above["text"].tolist() == ["L0", "L1", "L2"]


def test_what_was_not_measured_is_no_point_of_the_curve():
    frame = recorded_heads([run(accuracy=np.array([np.nan, 0.5]))]).frame
    assert frame["accuracy"].isna().tolist() == [True, False]
    assert frame["reading"].tolist() == ["not measured", "50.0\u2009%"]


def test_a_curve_is_interrupted_where_nothing_was_measured():
    frame = recorded_heads([run(4, accuracy=np.array([0.5, np.nan, 0.5, 0.6]))]).frame
    before, _, after, later = frame["line"]
    assert before != after == later


def test_phases_of_one_task_are_one_band_and_curves_break_between_tasks():
    phase, tasks = np.array([0, 1, 1, 2]), ["digits", "digits", "gently changed digits"]
    figure = recorded_heads([run(4, phase=phase, tasks=tasks)])
    bands = figure.frames["phases"]
    assert bands["numbered"].tolist() == ["1  digits", "2  gently changed digits"]
    assert bands["from"].tolist() == pytest.approx([0, 2.5 / 3])
    assert bands["to"].tolist() == pytest.approx([2.5 / 3, 1])
    assert figure.frame["line"].nunique() == 2


def test_the_names_of_all_phases_of_the_review_encoders_are_whole():
    """On as many moments as their recording has of each."""
    phases = {
        "hidden words, short texts": 26,
        "sentences, more reviews": 23,
        "sentences, edits and reviews": 26,
    }
    phase = np.repeat(np.arange(4), (*phases.values(), 263))
    figure = recorded_heads([run(338, phase=phase, tasks=[*phases, "sentiment"])])
    assert [" ".join(lines.split()) for lines in figure.frames["phases"]["lines"]] == [*phases, "sentiment"]
    # the track in windows of 800 pixels and, presented, of 1280
    assert 686 < figure.frames["state"]["names_width"][0] <= 1048


def test_the_legend_says_what_colours_mean():
    def reach(n_keys: int, colours: str) -> str:
        pattern = np.zeros((2, 1, 1, n_keys, n_keys), np.uint8)
        state = recorded_heads([run(pattern=pattern)], colours=colours).frames["state"]
        return "   ".join(filter(None, [state["reach"][0], state["even_text"][0]]))

    assert reach(9, "fixed") == "1   attention weight   ▲ same weight for all: 1/9 = 0.11"
    assert "square root" in reach(50, "fixed")
    assert reach(9, "own").startswith("the head's largest weight in its whole recording")


def test_an_accuracy_stands_with_its_error_where_the_number_of_examples_is_known():
    phases = {
        "phase": np.array([0, 0, 1]),
        "tasks": ["digits", "masked tokens"],
        "examples": [(500, "digits"), None],
    }
    accuracy = np.array([0.5, np.nan, 0.5])
    assert run(3, accuracy=accuracy, **phases).errors == ["± 2.2\u2009%\nof 500 digits", "", ""]


def test_names_have_the_colours_of_letters_on_light_and_on_dark():
    sides = recorded_heads([run(), run(name="post", colour=POST_LN)]).frames["sides"]
    assert [*zip(sides["letters"], sides["letters_on_dark"], strict=True)] == [
        LETTERS[PRE_LN],
        LETTERS[POST_LN],
    ]
