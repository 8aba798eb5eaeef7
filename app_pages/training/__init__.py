"""The parts of the Training page."""
