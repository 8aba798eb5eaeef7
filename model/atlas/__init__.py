"""Measures over a data set: means and standard deviations of what the pages show for one input, stored beside a checkpoint."""
