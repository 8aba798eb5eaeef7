"""Whether the map that is shown may be read as an explanation of the answer: a line beside it, and behind it the figures."""
