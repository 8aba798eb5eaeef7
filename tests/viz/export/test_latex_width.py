import pytest

from viz.export.latex_width import latex_width


# Measured by LaTeX: the width of a box with this text in cmr10 at 10 pt, without kerning.
@pytest.mark.parametrize(
    ("code", "points"),
    [
        ("L0 H1", 6.25 + 5 + 3.33 + 7.5 + 5),
        ("$0.250$", 4 * 5 + 2.78),
        ("$-3$", 7.78 + 5),
        (r"88 \%", 10 + 3.33 + 8.33),
        (r"a\_b", 5 + 3.61 + 5.56),
        (r"\textless{}s\textgreater{}", 2 * 10.56 + 3.94),
        (r"$10^{-3}$", 10 + 0.8 * (7.78 + 5)),
        ("é", 4.44),
        ("中文", 20),
        ("", 0),
    ],
)
def test_the_widths_of_letters_are_added_up(code: str, points: float) -> None:
    assert latex_width(code) == pytest.approx(points, abs=0.03)


def test_the_width_grows_with_the_size() -> None:
    assert latex_width("distance", 9) == pytest.approx(0.9 * latex_width("distance"))
