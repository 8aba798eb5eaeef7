"""Controls and displays that several pages use."""
