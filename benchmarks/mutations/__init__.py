"""The ways in which `benchmarks.broken_folders` and `benchmarks.broken_on_pages` damage a checkpoint folder."""

from benchmarks.mutations import configuration, files, others, own, tokenizers, weights_file
from benchmarks.mutations.case import KINDS, Case

__all__ = ["KINDS", "Case", "configuration", "files", "others", "own", "tokenizers", "weights_file"]
