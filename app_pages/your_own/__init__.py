"""Parts of the page about encoders from elsewhere."""
