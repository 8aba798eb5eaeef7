"""Encoders that were trained elsewhere: reads folders in Hugging Face's layout without `transformers`; a family is
a table of names (`family_table`), with a function for what depends on its config.json.

`describe` tells what a folder holds before its weights are read; `model.checkpoint.load` opens it.
"""

from .description import Description, describe
from .families import families_table, family_names
from .folder import find, is_foreign, open_encoder

__all__ = [
    "Description",
    "describe",
    "families_table",
    "family_names",
    "find",
    "is_foreign",
    "open_encoder",
]
