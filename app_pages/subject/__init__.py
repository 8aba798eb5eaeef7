"""What a page is about: an encoder with an input, or a record from a file; and what is kept of it."""
