"""The frame of every page: navigation, styles, start options."""
