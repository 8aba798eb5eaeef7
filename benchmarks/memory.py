"""python -m benchmarks.memory [--texts 5] [--cache-mb 2048]

How much the process grows while an encoder of 12 layers × 12 heads is shown 512 tokens on every page in turn: from
when it is idle with the encoder loaded, after each text. A record of such an encoder takes 0.4 GB. The cache is
bounded, so what lies beyond its bound are the records that one run of a page holds at once.
"""

import argparse
import gc
import os
import resource
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = "random-12x12"
STATES = [
    ("attention", {}),
    *(("masks", {"masks_keys": "2", "masks_part": part}) for part in ("Step by step", "What follows")),
    ("masks", {"masks_keys": "2", "masks_part": "Ways of masking"}),
    *(("positions", {"positions": part}) for part in ("This checkpoint", "Experiments", "Embeddings")),
    *(("inside_a_head", {"inside": part}) for part in ("Step by step", "Why √d_k", "LayerNorm", "Sets")),
    *(("heads", {"heads_part": part}) for part in ("Table", "Scatter")),
    *(
        ("compare", {"compare_what": "two inputs", "compare_part": part})
        for part in ("Heads", "Difference", "Stream", "Representations")
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--texts", type=int, default=5)
    parser.add_argument("--cache-mb", type=int, default=2048)
    arguments = parser.parse_args()
    os.environ["LOUPE_CACHE_MB"] = str(arguments.cache_mb)
    from model import checkpoint

    with tempfile.TemporaryDirectory() as folder:
        checkpoint.CHECKPOINTS = Path(folder)
        write_encoder(Path(folder, NAME))
        show(arguments.texts)


def write_encoder(folder: Path) -> None:
    """Random weights of BERT-base's shape, on the words of the review encoders."""
    from dataclasses import replace

    import torch
    from tokenizers import Tokenizer

    from model import checkpoint
    from model.config import preset
    from model.transformer import Transformer

    sizes = {"d_model": 768, "n_layers": 12, "n_heads": 12, "d_k": 64, "d_v": 64, "d_ff": 3072}
    tokenizer = Tokenizer.from_file(str(ROOT / "checkpoints" / "imdb-pre-ln" / "tokenizer.json"))
    config = replace(preset("imdb-pre-ln"), n_positions=512, vocab_size=tokenizer.get_vocab_size(), **sizes)
    torch.manual_seed(0)
    checkpoint.save(folder, Transformer(config), {}, tokenizer)


def show(n_texts: int) -> None:
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    from app_pages.cache import loaded

    idle = None
    for number in range(n_texts):
        words = " ".join(f"film {number} {at % 97}" for at in range(170))
        for page, query in STATES:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
            app._page_hash = calc_hash("" if page == "attention" else page)
            for key, value in ({"checkpoint": NAME, "text": words, "layer": "3"} | query).items():
                app.query_params[key] = value
            if idle is None:
                loaded(NAME)
                idle = resident()
                print(f"idle with the encoder loaded: {idle:,.0f} MB", flush=True)
            app.run()
            if app.exception:
                sys.exit(f"{page} {query}: {app.exception[0].value}")
            del app
            gc.collect()  # as Streamlit does after each run
        print(
            f"after text {number + 1}: {resident() - idle:+,.0f} MB, at most {peak() - idle:+,.0f} MB",
            flush=True,
        )


def resident() -> float:
    """MB of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


if __name__ == "__main__":
    main()
