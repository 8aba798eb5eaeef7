"""What stands around every page: navigation, styles, start options."""
