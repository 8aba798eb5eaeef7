"""Files of strangers: bounded reading, writing that is whole or not at all, and errors in one sentence."""
