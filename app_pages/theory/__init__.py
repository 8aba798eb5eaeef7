"""Parts of the Theory page."""
