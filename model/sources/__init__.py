"""Where encoders come from: the project's folders, a reader's own, uploads, the Hub."""
