"""The text itself, each token on the colour of the weight that the chosen query gives to it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from ..builders.cells import STRONG, framed
from ..builders.figure import VegaFigure, click_on, data, form, need_shape, tip
from ..builders.palette import TO_ONE, WeightScale
from ..builders.pictures import pixel_x
from ..builders.theme import INK, OTHER_INK, lines_above
from ..builders.token_label import FONT, label, visible
from ..builders.token_label import width as label_width
from ..builders.vega_colours import attention_colour, evenly, weight_values

if TYPE_CHECKING:  # the package loads torch
    from model.record import Positions

_FONT_SIZE = 15
_LINE = 36  # pixels, as all lengths here
_PADDING = 6  # left and right of a token, in its box
_SPACE = 6  # between words
_ROUNDING = 6
_LONGEST_TOKEN = 24  # cells
_LONGEST_WORD = 240  # a longer one may break between its pieces


def token_strip(
    read: "Positions",
    weights: np.ndarray,
    *,
    query: int | None,
    scale: WeightScale = TO_ONE,
    allowed: np.ndarray | None = None,
    legend: bool = True,
    notes: Sequence[str] = (),
) -> VegaFigure:
    """The tokens of what was `read` in lines like text, coloured by weights [position]; the token `query` is outlined,
    which is None where the query is no token of these.

    The pieces of a word touch each other, without what the tokenizer marks them with. A click on a token sets the point selection
    `token`, field `position`. The lines are broken in the browser and fit any width that Streamlit gives.
    With `allowed` [position], tokens that are not (False) are struck out, and a click sets `key`, fields `position`
    and `blocked`: Streamlit reports a click only where it changes the selection, and once the first click has
    blocked a token, the second one on it is different from the first.
    Where a figure beside it has the same colours, it can do without the `legend`. `notes` are lines above it: what was done
    to the weights.
    Raises ValueError where tokens and weights differ in number.
    """
    need_shape((len(read),), weights=weights)
    blocked = np.zeros(len(read), bool) if allowed is None else ~allowed
    boxes = _boxes(read)
    longest = max((end - word for end, word in zip(boxes["end"], boxes["word"], strict=True)), default=0)
    boxes["weight"] = np.asarray(weights, float)
    boxes["selected"] = np.arange(len(read)) == query
    boxes["blocked"] = blocked
    boxes["said"] = [
        token + ", masked" * masked for token, masked in zip(boxes["token"], blocked.tolist(), strict=True)
    ]
    n_keys = int((~blocked).sum())
    return _form(
        scale.reach, evenly(n_keys, shares=scale.shares), scale.what, allowed is not None, legend
    ).of(
        boxes,
        values={"longest": longest, **weight_values(scale, n_keys)},
        description=f"The {len(read)} {read.units} of the text, coloured by the attention of "
        + ("the query" if query is None else f"{read.units.removesuffix('s')} {read.number(query)}")
        + " to them",
        **lines_above(notes),
    )


@form
def _form(reach: str, even: str, what: str, blockable: bool, legend: bool) -> alt.LayerChart:
    base = (
        alt.Chart(data())
        # The one endless line is cut into pieces, and a word goes where it starts. The pieces are shorter
        # than the width by the longest word: whichever comes last in its line, it fits.
        .transform_calculate(line="floor(datum.word / max(width - longest, 1))")
        .transform_joinaggregate(line_start="min(word)", groupby=["line"])
        .transform_calculate(left="datum.start - datum.line_start", right="datum.end - datum.line_start")
        .transform_calculate(middle="(datum.left + datum.right) / 2")
        .encode(
            x=pixel_x("left"),
            y=alt.Y("line:O", axis=None, scale=alt.Scale(paddingInner=0.22, paddingOuter=0.11)),
        )
    )
    ends = {"Left": "starts_word", "Right": "ends_word"}
    corners = [(height + side, end) for height in ("Top", "Bottom") for side, end in ends.items()]
    box = {f"cornerRadius{at}": alt.expr(f"datum.{end} ? {_ROUNDING} : 0") for at, end in corners}
    colours = base.mark_rect(**box, aria=False).encode(
        x2="right:Q", color=attention_colour(reach, even, legend=legend, what=what)
    )
    text = base.mark_text(
        aria=False,
        font=FONT,
        fontSize=_FONT_SIZE,
        fontWeight=alt.expr("datum.selected ? 'bold' : 'normal'"),
        color=alt.expr(f"datum.weight > {STRONG} * largest ? {OTHER_INK.expr} : {INK.expr}"),
        limit=alt.expr("datum.end - datum.start"),
    ).encode(x=pixel_x("middle"), text="label:N")
    strike = base.transform_filter("datum.blocked").mark_rule(color=INK, strokeWidth=2.5, aria=False)
    # On top and clear: a click on a letter counts as one on its box.
    cover = framed(base.mark_rect(**box, fill="transparent", cursor="pointer"), (2.5, 0.5)).encode(
        x2="right:Q",
        description="said:N",
        tooltip=[
            tip("said:N", title="key") if blockable else tip("token:N"),
            tip("position:Q"),
            tip("weight:Q", ".4f", what),
        ],
    )
    click = click_on("key", "position", "blocked") if blockable else click_on("token", "position")
    struck = [strike.encode(x2="right:Q")] if blockable else []
    return alt.layer(colours, text, *struck, cover.add_params(click)).properties(
        width=1000,  # pixels, where Streamlit gives none
        height=alt.Step(_LINE),
        autosize="pad",  # the number of lines makes the height, and Vega fits nothing to a size of such a kind
        usermeta={"stretches": True},  # for whoever lays it out elsewhere
    )


def _boxes(read: "Positions") -> dict[str, list]:
    """A value a token, as if all stood in one endless line: `start` and `end`, and the start of its `word`."""
    continues = [role == "continuation" and position > 0 for position, role in enumerate(read.roles)]
    shown = [label(piece, _LONGEST_TOKEN) for piece in read.pieces]
    starts, ends, words = [], [], []
    word = end = 0.0
    for position, (piece, goes_on) in enumerate(zip(shown, continues, strict=True)):
        start = end if goes_on or position == 0 else end + _SPACE
        end = start + label_width(piece, _FONT_SIZE) + 2 * _PADDING
        if not goes_on or end - word > _LONGEST_WORD:
            word = start
        starts.append(start)
        ends.append(end)
        words.append(word)
    return {
        "position": [read.number(at) for at in range(len(read))],
        "token": [visible(token) for token in read.tokens],
        "label": shown,
        "start": starts,
        "end": ends,
        "word": words,
        "starts_word": [not goes_on for goes_on in continues],
        "ends_word": [not goes_on for goes_on in [*continues[1:], False][: len(read)]],
    }
