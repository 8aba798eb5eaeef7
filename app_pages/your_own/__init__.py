"""The parts of the page about encoders from elsewhere."""
