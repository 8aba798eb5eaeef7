"""What all charts share: building Vega-Lite charts and heatmaps, colours, themes, and numbers as text."""
