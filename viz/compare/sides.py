"""The two sides of a comparison have a colour each, the ends of the scale of differences."""

FIRST, SECOND = "#2676e0", "#d96408"
