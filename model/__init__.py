"""The encoder, and how its activations are captured and measured and its weights trained."""
