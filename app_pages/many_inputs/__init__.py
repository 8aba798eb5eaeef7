"""The parts of the page with a list of inputs and the prediction for each."""
