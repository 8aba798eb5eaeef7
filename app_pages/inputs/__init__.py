"""Where the input and the checkpoint are chosen: the row of the input and its parts."""
