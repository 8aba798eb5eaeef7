"""Whether an attention map may be read as an explanation of the answer: a line beside the map, and figures behind it."""
