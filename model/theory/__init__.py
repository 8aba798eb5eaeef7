"""Mathematics of the Transformer, and experiments with untrained encoders; no checkpoint is needed."""
