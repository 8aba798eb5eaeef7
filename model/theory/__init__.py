"""Mathematics and fresh models: what needs no checkpoint."""
