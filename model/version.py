"""Which version of the project this is: read by the packaging, the app and whatever is saved."""

VERSION = "0.1.0"
