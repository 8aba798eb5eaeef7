"""One position as a row of clocks, a clock a frequency: the hand has turned by w_k t since twelve o'clock."""

import altair as alt
import numpy as np

from viz.figure import VegaFigure, data, form, tip
from viz.palette import ACCENT, NEUTRAL
from viz.pictures import pixel_x, pixel_y
from viz.theme import FIT, INK

AT_MOST = 16  # clocks in a row; of more frequencies, evenly spaced ones are drawn
_LARGEST = 36  # pixels of a radius, as all lengths here
_MIDDLE, _HEIGHT = 62, 128
_STEP = f"min(width / {AT_MOST}, {2.4 * _LARGEST})"  # the width is known in the browser alone
_RADIUS = f"(0.42 * {_STEP})"


def clock_hands(
    angles: np.ndarray, wavelengths: np.ndarray, *, before: np.ndarray | None = None
) -> VegaFigure:
    """Hands at `angles` [frequency], in radians clockwise from the top, so that a hand points to (sin, cos).

    Faint hands show where they stood `before`. Below each clock stands its wavelength in positions.
    Raises ValueError where the numbers of frequencies differ.
    """
    before = angles if before is None else before
    if not angles.shape == before.shape == wavelengths.shape:
        raise ValueError(f"got {angles.shape} angles, {before.shape} before, {wavelengths.shape} wavelengths")
    n = len(angles)
    drawn = np.unique(np.linspace(0, n - 1, min(n, AT_MOST)).round().astype(int))
    frame = {
        "k": drawn,
        "place": np.arange(len(drawn)) + 0.5,
        "wavelength": wavelengths[drawn],
        "turns": angles[drawn] / (2 * np.pi),
        "sine": np.sin(angles[drawn]),
        "cosine": np.cos(angles[drawn]),
        "sine_before": np.sin(before[drawn]),
        "cosine_before": np.cos(before[drawn]),
    }
    return _form().of(
        frame, description=f"{len(drawn)} of the {n} frequencies as clocks, the fastest on the left"
    )


@form
def _form() -> alt.LayerChart:
    base = alt.Chart(data()).transform_calculate(
        middle=f"datum.place * {_STEP}",
        centre=str(_MIDDLE),
        tip_x=f"datum.middle + {_RADIUS} * datum.sine",
        tip_y=f"{_MIDDLE} - {_RADIUS} * datum.cosine",
        tip_x_before=f"datum.middle + {_RADIUS} * datum.sine_before",
        tip_y_before=f"{_MIDDLE} - {_RADIUS} * datum.cosine_before",
        twelve=f"{_MIDDLE} - {_RADIUS}",
        twelve_end=f"{_MIDDLE} - 0.8 * {_RADIUS}",
        above=f"{_MIDDLE} - {_RADIUS} - 12",
        below=f"{_MIDDLE} + {_RADIUS} + 13",
        name="'k ' + datum.k",
        length="'λ ' + format(datum.wavelength, '.3~s')",
        spoken="'k ' + datum.k + ': ' + format(datum.turns, '.3~f') + ' turns'",
    )
    faces = base.mark_point(
        shape="circle",
        size=alt.expr(f"pow(2 * {_RADIUS}, 2)"),  # Vega takes the square of the diameter
        stroke=NEUTRAL,
        strokeWidth=1,
        fill="transparent",
    ).encode(
        x=pixel_x("middle"),
        y=pixel_y("centre"),
        description="spoken:N",
        tooltip=[
            tip("k:Q"),
            tip("wavelength:Q", ",.2f", "wavelength (positions)"),
            tip("turns:Q", ",.4f", "turns since t = 0"),
            tip("sine:Q", ".4f"),
            tip("cosine:Q", ".4f"),
        ],
    )
    noon = base.mark_rule(stroke=NEUTRAL, strokeWidth=1, aria=False).encode(
        x=pixel_x("middle"), y=pixel_y("twelve"), y2="twelve_end:Q"
    )
    hand = {"strokeCap": "round", "aria": False, "tooltip": None}
    hands_before = base.mark_rule(**hand, stroke=NEUTRAL, strokeWidth=2.5, opacity=0.6).encode(
        x=pixel_x("middle"), x2="tip_x_before:Q", y=pixel_y("centre"), y2="tip_y_before:Q"
    )
    hands = base.mark_rule(**hand, stroke=ACCENT, strokeWidth=3).encode(
        x=pixel_x("middle"), x2="tip_x:Q", y=pixel_y("centre"), y2="tip_y:Q"
    )
    text = base.mark_text(aria=False, color=INK, fontSize=11)
    names = text.encode(x=pixel_x("middle"), y=pixel_y("above"), text="name:N")
    lengths = text.encode(x=pixel_x("middle"), y=pixel_y("below"), text="length:N")
    return alt.layer(noon, hands_before, hands, faces, names, lengths).properties(
        width=900, height=_HEIGHT, autosize=FIT
    )
