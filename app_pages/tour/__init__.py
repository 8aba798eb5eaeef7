"""The tour: ten pages one after the other, all about the reader's own input and encoder."""
