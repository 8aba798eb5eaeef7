"""The encoder: its code, capturing and measuring its activations, changing them, and training its weights."""
