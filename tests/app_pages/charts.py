"""What the charts on a page hold."""

import base64
import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest


def shown(app: AppTest, key: str = "matrix") -> dict:
    """The Plotly figure of that key."""
    assert not app.exception
    (chart,) = (chart for chart in app.get("plotly_chart") if chart.key == key)
    return json.loads(chart.proto.spec)


def weights(figure: dict) -> np.ndarray:
    """The numbers of its first trace."""
    return numbers(figure["data"][0])


def numbers(trace: dict) -> np.ndarray:
    """Plotly sends arrays as base64 where they are large, as lists where they are small."""
    z = trace["z"]
    if isinstance(z, list):
        return np.array(z, float)
    flat = np.frombuffer(base64.b64decode(z["bdata"]), np.dtype(z["dtype"]))
    return flat.reshape([int(side) for side in z["shape"].split(",")])


def described(app: AppTest, start: str) -> dict:
    """The Altair chart whose description begins so, with its tables as `tables`."""
    (found,) = _described(app, start)
    return found


def _described(app: AppTest, start: str) -> Iterator[dict]:
    assert not app.exception
    for chart in app.get("vega_lite_chart"):
        spec = json.loads(chart.proto.spec)
        if spec.get("description", "").startswith(start):
            tables = [convert_arrow_bytes_to_pandas_df(each.data.data) for each in chart.proto.datasets]
            yield spec | {"tables": tables}


def table(app: AppTest, start: str, *fields: str) -> pd.DataFrame:
    """Of that chart, the first table that has these columns."""
    return next(each for each in described(app, start)["tables"] if set(fields) <= set(each.columns))
