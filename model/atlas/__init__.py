"""Statistics over a data set of what pages show of one input: means and spreads, stored beside a checkpoint."""
