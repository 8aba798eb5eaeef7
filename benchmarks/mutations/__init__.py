"""All kinds of what `benchmarks.broken_folders` does to a folder."""

from benchmarks.mutations import configuration, files, others, tokenizers, weights
from benchmarks.mutations.case import KINDS, Case

__all__ = ["KINDS", "Case", "configuration", "files", "others", "tokenizers", "weights"]
