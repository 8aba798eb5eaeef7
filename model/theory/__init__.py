"""Mathematics of the Transformer, and experiments with untrained encoders, which need no checkpoint."""
