"""The style of exported figures: theme, width, size of letters, numbers in cells, and title."""

from dataclasses import dataclass
from typing import Literal, get_args

from ..builders.theme import MIDDLE, PAGE, Theme

CM, PT = 96 / 2.54, 96 / 72  # pixels of CSS, of which an inch has 96
LABEL = MIDDLE  # pixels of a layout: labels of axes; whoever asks for points gets these in that size
NumberChoice = Literal["drawn", "all", "none"]  # "drawn": those that the figure has by itself
# Sizes that a person can mean: from a stamp to a poster.
WIDTHS_CM, FONTS_PT = (2.0, 100.0), (4.0, 72.0)


@dataclass(frozen=True, slots=True)
class ExportStyle:
    """The style of an exported figure. Raises ValueError for sizes out of range."""

    theme: Theme = "light"
    width_cm: float | None = None  # None: as wide as the figure is by itself
    # of axes and legends; what is smaller or larger keeps its proportion to them
    font_pt: float | None = None
    transparent: bool = False
    dpi: int | None = None  # of a PNG; None: 300 for one with a width, which goes on paper, else 192
    numbers: NumberChoice = "drawn"  # in the cells of a map
    title: bool = True  # what stands above the whole figure
    above: str = ""  # what the figure shows, in a line above its title

    def __post_init__(self) -> None:
        if self.theme not in PAGE:
            raise ValueError(f"a theme is 'light' or 'dark', got {self.theme!r}")
        if self.numbers not in get_args(NumberChoice):
            raise ValueError(f"numbers are 'drawn', 'all' or 'none', got {self.numbers!r}")
        for quantity, value, (minimum, maximum) in (
            ("width in cm", self.width_cm, WIDTHS_CM),
            ("font size in pt", self.font_pt, FONTS_PT),
        ):
            if value is not None and not minimum <= value <= maximum:
                raise ValueError(f"the {quantity} goes from {minimum:g} to {maximum:g}, got {value:g}")

    @property
    def dots_per_inch(self) -> int:
        """The dots per inch of a PNG."""
        return self.dpi or (300 if self.width_cm else 192)


PAPER = ExportStyle(width_cm=8.5, font_pt=8, transparent=True)  # one column of two
