"""Whether an attention map may be read as an explanation of the answer: a verdict beside the map, and the figures that support
it.
"""
