"""Parts of encoders that came after 2017, to be put in the place of those of `model.transformer`: norms, feed-forwards, positions.

`block.replace_parts` puts into a `Block` what `config.family.parts` names; `model.transformer` itself knows none of them.
"""
