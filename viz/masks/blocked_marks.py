"""What the figures have in common in which tokens or patches are marked as masked, and can be clicked."""

from collections.abc import Iterable

import altair as alt


def marked(figure: alt.LayerChart, blocked: Iterable[int], *, name: str) -> alt.Chart:
    """The lowest layer's marks, which have a field `position`, without their colour and with a field `blocked`.

    They know as `said` what is said of them: the field `name`, and that they are masked.
    """
    places = ", ".join(map(str, blocked))
    marks = figure.layer[0].copy(deep=["encoding"])
    marks.encoding.color = alt.Undefined
    return marks.transform_calculate(blocked=f"indexof([{places}], datum.position) >= 0").transform_calculate(
        said=f"datum.{name} + (datum.blocked ? ', masked' : '')"
    )


def cover(marks: alt.Chart, **appearance: float) -> alt.Chart:
    """A clear layer for the top: a click on a mark sets the point selection `key`.

    Its fields are `position` and `blocked`: Streamlit reports a click only where it changes the selection, and
    once the first click has blocked a mark, the second one on it is different from the first.
    """
    return (
        marks.mark_rect(fill="transparent", cursor="pointer", **appearance)
        .encode(
            description="said:N",
            tooltip=[
                alt.Tooltip("said:N", title="key"),
                alt.Tooltip("position:Q"),
                alt.Tooltip("weight:Q", format=".4f", title="attention weight"),
            ],
        )
        .add_params(
            alt.selection_point(name="key", fields=["position", "blocked"], toggle=False, clear=False)
        )
    )
