"""What several pages show: figures with their downloads, predictions, lines about a map."""
