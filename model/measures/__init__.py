"""Measures computed from the record of one input; each function states its formula, source and limits."""
