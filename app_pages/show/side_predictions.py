"""Containers for the sides of a comparison, and what stands above their figures: predictions and a sentence."""

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.control_bar import beside as side_by_side
from app_pages.show.prediction import prediction
from app_pages.subject.two_sides import Side

NUMBERS = ("first", "second", "third")


def beside(row: str, n: int = 2) -> list[DeltaGenerator]:
    """Containers for `n` sides, next to each other; in a narrow window below each other."""
    return side_by_side(*(f"{row}_{number}" for number in NUMBERS[:n]))


def predictions(*sides: Side, key: str) -> None:
    """Draws the sides' predictions next to each other; draws nothing if no side has classes."""
    if any(side.record.has_classes for side in sides):
        for side, column in zip(sides, beside(key, len(sides)), strict=True):
            with column:
                prediction(side.record, side.subject.label, title=side.title)


def tell(sentence: str, *, is_headline: bool = False) -> None:
    """Writes a sentence as plain text, so that tokens and class names in it are not read as Markdown."""
    style = 'class="headline"' if is_headline else 'style="margin: 0"'
    st.html(f"<p {style}>{escape(sentence)}</p>")
