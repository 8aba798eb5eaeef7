"""Reads the linked chart of all heads on a page under test, and sends choices as its script in the browser does."""

import base64
import json
import re
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from viz.attention.linked_data import TOP

ROUNDING = 0.5 / TOP  # by which a weight that the browser has may differ from the record's


@dataclass(frozen=True)
class LinkedChart:
    """What the browser is given: the data of the script, and the frames of the chart by name."""

    data: dict[str, Any]
    frames: dict[str, pd.DataFrame]
    component: str  # its id

    @property
    def kept(self) -> tuple[int, int, int]:
        """The chosen layer, head and query."""
        return tuple(self.data["kept"][name] for name in ("layer", "head", "query"))

    @property
    def weights(self) -> np.ndarray:
        """Those of all heads, [query, layer, head, key]."""
        assert self.data["is_whole"]
        shape = (self.data[name] for name in ("n_queries", "layers", "heads", "n_keys"))
        return self.numbers("weights").reshape(*shape) * self.data["unit"] / TOP

    @property
    def map(self) -> np.ndarray:
        """The weights of the chosen head, [query, key]."""
        layer, head, _ = self.kept
        return self.weights[:, layer, head]

    @property
    def about(self) -> str:
        """The sentence above the large map."""
        layer, head, _ = self.kept
        return self.frames["frame"]["about"][self.data["heads"] * layer + head]

    @property
    def name(self) -> str:
        layer, head, _ = self.kept
        return self.frames["frame"]["name"][self.data["heads"] * layer + head]

    @property
    def top(self) -> float:
        """The weight at which the colours of the chosen head end, the same in the chart and in its tokens."""
        layer, head, _ = self.kept
        index = self.data["heads"] * layer + head
        top = float(self.frames["frame"]["top"][index])
        assert top == (1 if self.data["tops"] is None else self.data["tops"][index])
        return top

    def state(self, name: str) -> Any:
        """This value of the one row that holds for the whole chart."""
        (value,) = self.frames["state"][name]
        return value

    def numbers(self, name: str) -> np.ndarray:
        """The array of this name as the script decodes it, flat."""
        return np.frombuffer(base64.b64decode(self.data[name]), "<u2")


def charts(app: AppTest) -> list[str]:
    """The keys of all linked charts on the page."""
    specifications = [chart.proto.spec for chart in app.get("vega_lite_chart")]
    channels = [data["channel"] for data in tokens(app)]
    return [key for key in channels if any(f"loupe-{key}-layer" in text for text in specifications)]


def tokens(app: AppTest) -> list[dict[str, Any]]:
    """What the script is told that draws tokens, of each linked chart and of tokens above another figure."""
    components = [
        block.proto for block in app.get("bidi_component") if block.proto.component_name == "linked_heads"
    ]
    return [json.loads(component.json) for component in components]


def linked(app: AppTest, key: str = "all_heads") -> LinkedChart:
    """The linked chart with this key."""
    assert not app.exception
    (component,) = (
        block.proto for block in app.get("bidi_component") if block.proto.id.endswith(f"-{key}_tokens")
    )
    (chart,) = (chart for chart in app.get("vega_lite_chart") if f"loupe-{key}-layer" in chart.proto.spec)
    frames = {
        dataset.name: convert_arrow_bytes_to_pandas_df(dataset.data.data) for dataset in chart.proto.datasets
    }
    return LinkedChart(json.loads(component.json), frames, component.id)


def captions(app: AppTest) -> str:
    """All captions of the page, as they are read."""
    assert not app.exception
    return re.sub(r"\\(?=\W)", "", "\n".join(caption.value for caption in app.caption))


def choose(app: AppTest, key: str = "all_heads", **changes: object) -> AppTest:
    """The app after a choice in the browser: what is chosen, with these changes."""
    data = linked(app, key).data
    same = {**data["kept"], "coloured_by": data["coloured_by"], "stamp": data["stamp"]}
    message = {**same, "number": data["answered"] + 1, **changes}
    return send(app, message, key)


def send(app: AppTest, message: object, key: str = "all_heads") -> AppTest:
    """The app after the script of the chart sent it this message."""
    chart = linked(app, key)
    states = app._tree.get_widget_states()
    trigger = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{chart.component}__events")
    trigger.json_trigger_value = json.dumps([{"event": "chosen", "value": message}])
    return app._run(states)


def side_names(app: AppTest) -> list[str]:
    """What stands above the linked charts of a comparison: the name of each side, and its answer."""
    bodies = (html.proto.body for html in app.get("html"))
    return [
        unescape(match[1])
        for body in bodies
        if (match := re.fullmatch(r'<p class="headline" style="color.*?">(.*)</p>', body))
    ]
