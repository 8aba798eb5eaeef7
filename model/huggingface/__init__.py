"""Encoders that were trained elsewhere: reads folders in Hugging Face's layout without `transformers`. Each family of
encoders has a table of the names of its settings and tensors (`family_table`), and a function that reads its config.json.

`describe` tells what a folder holds before its weights are read; `model.checkpoint.load` opens the folder.
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
