"""The parts of the pages that are too long for one file: a folder a page."""
