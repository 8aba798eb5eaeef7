"""How well an encoder answers: `python -m model.evaluate`."""
