"""What pages show of one input, over a data set: means and their spread, stored beside a checkpoint."""
