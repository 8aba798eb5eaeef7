"""Encoders that were trained elsewhere: reads folders in Hugging Face's layout without `transformers`, one module per family.

`describe` tells what a folder holds before its weights are read; `model.checkpoint.load` opens it.
"""

from .description import Description, describe
from .folder import SUPPORTED, find, is_foreign, open_encoder

__all__ = ["SUPPORTED", "Description", "describe", "find", "is_foreign", "open_encoder"]
