"""The encoder, how it is watched, what is measured on it, and how it is trained."""
