"""Measures the accuracy and loss of an encoder on test data: `python -m model.evaluate`."""
