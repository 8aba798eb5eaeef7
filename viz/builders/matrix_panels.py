"""Heatmaps beside each other in the same colours."""

from collections.abc import Sequence
from typing import Any

from .heatmap import PLAIN_AXIS
from .theme import LARGE


def panels(
    traces: Sequence[dict],
    *,
    domains: Sequence[tuple[float, float]],
    across: Sequence[dict],
    down: Sequence[dict],
    colours: dict,
    **layout: object,
) -> tuple[list[dict], dict]:
    """Traces and layout of heatmaps side by side, with common `colours` (of `colour_scale`) unless a trace has its own.

    `domains` are the left and right end of each panel as shares of the width, `across` and `down` the options of its x
    and y axes, and `layout` further options of Plotly's layout.
    """
    coloraxis = {"cmin": colours["zmin"], "cmax": colours["zmax"], "colorscale": colours["colorscale"]}
    panel_traces = []
    axes: dict[str, Any] = {}
    for panel_number, (trace, domain, x, y) in enumerate(
        zip(traces, domains, across, down, strict=True), start=1
    ):
        suffix = "" if panel_number == 1 else panel_number
        frame = {"type": "heatmap", "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        panel_traces.append(frame | ({} if "zmin" in trace else {"coloraxis": "coloraxis"}) | trace)
        axes[f"xaxis{suffix}"] = PLAIN_AXIS | {"domain": domain, "anchor": f"y{suffix}"} | x
        axes[f"yaxis{suffix}"] = PLAIN_AXIS | {"anchor": f"x{suffix}"} | y
    return panel_traces, {**axes, "coloraxis": coloraxis | {"colorbar": colours["colorbar"]}, **layout}


def heading(text: str, x: float, shift: int = 0) -> dict:
    """Plotly's annotation with the heading of a panel, centred at `x` (a share of the width), raised by `shift` pixels."""
    position = {"x": x, "xref": "paper", "xanchor": "center", "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {"text": text, "font": {"size": LARGE}, "yshift": shift, "showarrow": False, **position}
