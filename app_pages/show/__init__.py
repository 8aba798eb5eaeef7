"""What several pages show: figures with their downloads, predictions, progress, lines about a map."""
