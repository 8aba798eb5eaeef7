"""The parts of the page on the placement of the norm."""
