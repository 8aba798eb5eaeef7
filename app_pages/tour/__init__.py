"""The tour: ten pages one after the other, all with the reader's own input and encoder."""
