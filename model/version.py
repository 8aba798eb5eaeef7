"""Version of the project, read by the packaging and the app, and stored in saved files."""

VERSION = "0.1.0"
