"""Figures and records as files: SVG, PNG, CSV, Parquet, and an HTML page that opens offline."""
