"""Training of the checkpoints: `python -m model.train NAME`."""
