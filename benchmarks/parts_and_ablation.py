"""python -m benchmarks.parts_and_ablation --data runs/sentences.csv

How well the parts of answers agree with ablation, for each shipped encoder over a data set, as the table of
`docs/encoders.md`: Spearman's correlation between the heads' parts (`answer_parts`) and the effects of ablating the
heads (`answer_effects`), over N_EFFECTS examples, and the share of the first half of the layers in the parts of heads
and feed-forwards, over N_PARTS examples. Examples are taken at equal distances in the data set, digits from the MNIST
test digits; the answer is the predicted class. Five minutes of one core.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from model.atlas.dataset_examples import examples_for
from model.checkpoint import available, load
from model.decompositions.answer_effects import answer_effects
from model.decompositions.answer_parts import answer_parts

N_EFFECTS, N_PARTS = 24, 256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a CSV with the column text")
    data = parser.parse_args().data
    torch.set_num_threads(1)
    print(
        "| encoder | heads | Spearman's ρ: mean (least to largest) | share of the first half of the layers |"
    )
    print("|---|---|---|---|")
    for name in available():
        print(table_row(name, data), flush=True)


def table_row(name: str, data: Path) -> str:
    """The row of the table for the encoder `name`, in Markdown."""
    loaded = load(name, "cpu")
    examples = examples_for(loaded, data if loaded.config.is_text else None)
    effects = [answer_effects(loaded, value) for _, value in examples.limited(N_EFFECTS)]
    agreements = [result.spearman for result in effects if result.spearman is not None]
    shares = np.array([answer_parts(loaded, value).early_share for _, value in examples.limited(N_PARTS)])
    agreement = f"– ({effects[0].not_compared})"
    if agreements:
        agreement = f"{np.mean(agreements):.2f} ({min(agreements):.2f} to {max(agreements):.2f})"
        agreement += f", of {len(agreements)} examples" if len(agreements) < len(effects) else ""
    half_width = 1.96 * shares.std(ddof=1) / np.sqrt(len(shares))
    share = f"{shares.mean():.3f} ± {half_width:.3f}" if loaded.config.n_layers > 1 else "– (1 layer)"
    return f"| `{name}` | {effects[0].n} | {agreement} | {share} |"


if __name__ == "__main__":
    main()
