"""The modules of `model`, for what begins with an encoder or a record file and ends with a figure."""

from importlib import import_module
from typing import Any


def model_module(name: str) -> Any:
    """The module `name` of `model`, which stands beside `viz`, or in an installation beside `loupe.viz`.

    It is imported when it is asked for, and by name, since `model` loads torch and figures do without.
    """
    return import_module(f"{__package__.removesuffix('viz.export')}model.{name}")
