"""Parts of the page on norm placement."""
