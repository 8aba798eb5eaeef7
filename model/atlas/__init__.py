"""Measures over a data set: means and spreads of what the pages show for one input, stored beside a checkpoint."""
