"""Files that may come from strangers: read within limits, written completely or not at all, with errors in one sentence."""
