"""`python -m tests.model.train.small ...` is `python -m model.train ...` with small encoders of the same kinds."""

from dataclasses import replace

from model import config
from model.train.__main__ import main

for name in ("mnist-pre-ln", "mnist-post-ln", "imdb-pre-ln", "imdb-post-ln"):
    full = config.preset(name)
    config._PRESETS[name] = replace(full, d_model=32, n_heads=2, d_k=16, d_v=16, d_ff=64, n_layers=2)

if __name__ == "__main__":
    main()
