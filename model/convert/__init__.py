"""Weights that are stored as a pickle, written anew as safetensors: `python -m model.convert`. Nothing imports it."""
