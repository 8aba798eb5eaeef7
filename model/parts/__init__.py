"""Norms, feed-forwards and positions of later encoders, which replace those of the original Transformer in `model.transformer`.

`block.replace_parts` puts into a `Block` what `config.family.parts` names; `model.transformer` itself knows none of them.
"""
