"""Where the input and the checkpoint are chosen: the sidebar and its parts."""
