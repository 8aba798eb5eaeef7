"""Parts of the page with a list of inputs and a prediction for each."""
