"""Controls of the page Start here."""

from app_pages.controls.address import Code, Row, SelectBox, Tabs

WIDTH = 820  # pixels, in which a line of text can be read
TOUR, LECTURES, PAPERS = "Tour", "Lectures", "Papers"

PART = Tabs("reading_part", (TOUR, LECTURES, PAPERS))
PAPER = SelectBox[str]("reading_paper", "Paper", width=WIDTH // 2)
SECTION = Row[str]("reading_place", "Place in it", label_visibility="collapsed")
OWN_TEXT = Code("reading_text")  # the reader's sentence
