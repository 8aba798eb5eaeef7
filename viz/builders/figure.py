"""The two kinds of figures: heatmaps, and Vega-Lite charts with the data frames that they refer to."""

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import altair as alt
import numpy as np
import pandas as pd

from .figure_page import vega_iframe
from .heatmap_figure import Heatmap

FRAME = "frame"  # the name of the first frame, which is what tables and exports show


@dataclass(frozen=True, slots=True)
class VegaFigure:
    """A Vega-Lite chart: a specification without data, and the data frames that it refers to by name.

    All properties return copies, so that nobody can change a figure that is also shown elsewhere.
    """

    _specification: Mapping[str, Any]
    _frames: Mapping[str, pd.DataFrame]
    # What columns of the first frame are called in a file, where that is not their name; None: only the drawing needs it.
    in_file: Mapping[str, str | None] = field(default_factory=dict)
    # Makes the table for a file, where pictures show the numbers and no frame has them.
    table: Callable[[], pd.DataFrame] | None = field(default=None, compare=False, repr=False)

    @property
    def specification(self) -> dict[str, Any]:
        """The Vega-Lite specification without its data."""
        return deepcopy(dict(self._specification))

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The data frames by name; they are copies."""
        return {name: frame.copy(deep=False) for name, frame in self._frames.items()}

    @property
    def frame(self) -> pd.DataFrame:
        """The data frame of the figure's numbers, one row for each mark."""
        return self._frames[FRAME].copy(deep=False)

    @property
    def description(self) -> str:
        """The description for screen readers; "" without one."""
        return self._specification["description"]

    @property
    def columns(self) -> dict[str, dict[str, list[Any]]]:
        """The data frames by name, each as a dict of lists by column, which is shorter than a list of rows; numbers
        that are not finite are None.
        """
        return {
            name: {
                str(column): [
                    None if isinstance(value, float) and not math.isfinite(value) else value
                    for value in frame[column].tolist()
                ]
                for column in frame.columns
            }
            for name, frame in self._frames.items()
        }

    @property
    def takes_width(self) -> bool:
        """Whether the chart takes its width from its container instead of having a width of its own."""
        specification = self._specification
        if (specification.get("usermeta") or {}).get("stretches"):
            return True
        autosize = specification.get("autosize")
        return (isinstance(autosize, dict) and autosize.get("type") == "fit-x") or (
            "width" not in specification and autosize != "pad"
        )

    def following(self, name: str, element: str) -> "VegaFigure":
        """A copy whose value `name` follows an HTML element, found by the CSS selector `element`: each event "moved"
        of the element sets it, and it is 0 before the first.

        The element has to exist when the figure is drawn.
        """
        moved = {"name": f"{name}_told", "value": 0, "bind": {"element": element, "event": "moved"}}
        others = [param for param in self._specification["params"] if param["name"] != name]
        params = [*others, moved, {"name": name, "expr": f"+{name}_told || 0"}]
        return replace(self, _specification={**self._specification, "params": params})

    def chart(self) -> alt.TopLevelMixin:
        """An Altair chart with its data inside, to be combined with others."""
        datasets = {name: frame.to_dict(orient="records") for name, frame in self._frames.items()}
        return alt.Chart.from_dict({**self.specification, "datasets": datasets})

    def _repr_html_(self) -> str:
        """HTML for a notebook: an iframe with the figure and all scripts that draw it."""
        return vega_iframe(self._specification, self.columns, takes_width=self.takes_width)


Figure = VegaFigure | Heatmap
Kwargs: TypeAlias = dict[str, Any]  # keyword arguments for Altair, of many types
Columns: TypeAlias = pd.DataFrame | Mapping[str, Any]  # a frame, or its columns by name


def value(name: str) -> alt.ExprRef:
    """A reference to the entry `name` of the `values` of a `chart`, as in `alt.Scale(domain=[0, value("largest")])`."""
    return alt.ExprRef(name)


def tip(field: str, spec: str | None = None, title: str | None = None) -> alt.Tooltip:
    """A line of a tooltip with the values of `field`, numbers in Vega's format `spec`."""
    return alt.Tooltip(field, format=spec or alt.Undefined, title=title or alt.Undefined)


def conditional_value(test: str, then: object, otherwise: object) -> Mapping[str, Any]:
    """The JSON of a channel that is `then` for rows for which the Vega expression `test` is true, and `otherwise` for
    the others.
    """
    return alt.when(test).then(alt.value(then)).otherwise(alt.value(otherwise))


def check_shapes(shape: tuple[int, ...], /, **named: Any) -> None:
    """Raises ValueError if any of the arrays `named` has another shape than `shape`; the message names them."""
    if wrong := [f"{name} of {np.shape(array)}" for name, array in named.items() if np.shape(array) != shape]:
        raise ValueError(f"expected shape {shape}, got {' and '.join(wrong)}")
