"""Colours for a handful of kinds: apart from each other on white and on black, and none of them that of a choice."""

COLOURS = ("#2f8ac8", "#d96408", "#a048f6", "#0d9f9e", "#d82a53", "#8a7d1c")
