"""Choice of the input and the encoder: the input row and its parts."""
