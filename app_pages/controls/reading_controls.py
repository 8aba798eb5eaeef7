"""Controls of the page Reading."""

from app_pages.controls.address import Box, Code, Row

WIDTH = 820  # pixels, in which a line of text can be read

PAPER = Box[str]("reading_paper", "Paper", width=WIDTH // 2)
SECTION = Row[str]("reading_place", "Place in it", label_visibility="collapsed")
OWN_TEXT = Code("reading_text")  # the reader's sentence
