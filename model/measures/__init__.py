"""Numbers that describe what an encoder did; formulas, sources and cautions stand in each docstring."""
