"""Figures and views as files: SVG, PNG, the numbers behind a figure, a page that opens offline."""
