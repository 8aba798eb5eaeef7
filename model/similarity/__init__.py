"""Why two inputs are similar, which patches a text means, and which patches of a picture resemble each other."""
