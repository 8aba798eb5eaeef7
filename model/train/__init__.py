"""Training: `python -m model.train NAME`."""
