"""The parts of the Theory page."""
