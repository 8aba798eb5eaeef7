"""Reads the data of the charts on a page under test."""

import base64
import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest


def shown(app: AppTest, key: str = "matrix") -> dict:
    """The Plotly figure with this key, as a dict."""
    assert not app.exception
    (chart,) = (chart for chart in app.get("plotly_chart") if chart.key == key)
    return json.loads(chart.proto.spec)


def weights(figure: dict) -> np.ndarray:
    """The values of the first trace of a Plotly heatmap."""
    return numbers(figure["data"][0])


def numbers(trace: dict) -> np.ndarray:
    """The values of a Plotly heatmap trace, which come as base64 or, if they are few, as lists."""
    z = trace["z"]
    if isinstance(z, list):
        return np.array(z, float)
    flat = np.frombuffer(base64.b64decode(z["bdata"]), np.dtype(z["dtype"]))
    return flat.reshape([int(side) for side in z["shape"].split(",")])


def described(app: AppTest, start: str) -> dict:
    """The specification of the Altair chart whose description starts with `start`; `tables` holds its data."""
    (specification,) = _described(app, start)
    return specification


def _described(app: AppTest, start: str) -> Iterator[dict]:
    assert not app.exception
    for chart in app.get("vega_lite_chart"):
        spec = json.loads(chart.proto.spec)
        if spec.get("description", "").startswith(start):
            tables = [convert_arrow_bytes_to_pandas_df(dataset.data.data) for dataset in chart.proto.datasets]
            yield spec | {"tables": tables}


def table(app: AppTest, start: str, *fields: str) -> pd.DataFrame:
    """The first table with these columns in the Altair chart whose description starts with `start`."""
    return next(rows for rows in described(app, start)["tables"] if set(fields) <= set(rows.columns))


def component(app: AppTest, name: str) -> dict:
    """What the script of the one component called `name` is told, such as the rows of a table."""
    assert not app.exception
    (made,) = (block.proto for block in app.get("bidi_component") if block.proto.component_name == name)
    return json.loads(made.json)
