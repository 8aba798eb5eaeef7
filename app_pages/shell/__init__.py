"""What stands around every page: navigation, styles, gestures, callbacks, encoders of the session."""
