"""Trains the checkpoints: `python -m model.train NAME`."""
