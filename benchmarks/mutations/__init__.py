"""All kinds of what `benchmarks.broken_folders` and `benchmarks.broken_on_pages` do to a folder."""

from benchmarks.mutations import configuration, files, others, own, tokenizers, weights
from benchmarks.mutations.case import KINDS, Case

__all__ = ["KINDS", "Case", "configuration", "files", "others", "own", "tokenizers", "weights"]
