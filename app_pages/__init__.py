"""The pages, one file each, and what they share: the input, the checkpoint, the chosen head."""
