"""The parts of the page with a list of inputs and what an encoder makes of each."""
