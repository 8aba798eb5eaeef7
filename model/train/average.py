"""Averages the weights of checkpoints that went on from one another: `python -m model.train.average OUT FOLDER=0.6 FOLDER=0.4`.

What one of them has forgotten and another has learned, their mean mostly knows (Wortsman et al. 2022, Model soups).
The first FOLDER gives tokenizer, history and film; of it, the others may lack the last tokens.
"""

import argparse
from pathlib import Path

from torch import Tensor

from ..checkpoint import film_arrays, save
from ..checkpoint.cli import in_one_sentence
from ..transformer import Transformer
from .starting_checkpoint import StartingCheckpoint, as_tensors


def average(shares: dict[Path, float], out: Path) -> None:
    """Raises ValueError where the shares do not add up to 1, or the encoders differ in more than their vocabulary."""
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise ValueError(f"the shares add up to {sum(shares.values()):g}, not to 1")
    first, *_ = starts = [StartingCheckpoint.of(folder) for folder in shares]
    model = first.loaded.model
    states = [_grown(each, model) for each in starts]
    means = {
        name: sum(share * state[name].float() for share, state in zip(shares.values(), states, strict=True))
        for name in states[0]
    }
    model.load_state_dict(means)
    said = [start.about() | {"share": share} for start, share in zip(starts, shares.values(), strict=True)]
    history = first.loaded.history | {"averaged": said}
    film = film_arrays(first.loaded.folder)
    save(out, model.half(), history, first.loaded.tokenizer, film and as_tensors(film))


def _grown(start: StartingCheckpoint, like: Transformer) -> dict[str, Tensor]:
    """Its weights, with rows for the tokens that it lacks."""
    model = Transformer(like.config)
    if start.loaded.config.vocab_size == like.config.vocab_size:
        model = start.loaded.model
    elif start.tokenizer.get_vocab_size() == like.config.vocab_size:
        start.fill(model)
    else:
        raise ValueError(
            f"{start.loaded.name} has {start.loaded.config.vocab_size} tokens, not {like.config.vocab_size}"
        )
    state = model.state_dict()
    if {name: each.shape for name, each in state.items()} != {
        name: each.shape for name, each in like.state_dict().items()
    }:
        raise ValueError(f"{start.loaded.name} is of another size")
    return {name: each.clone() for name, each in state.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m model.train.average", description=__doc__.splitlines()[0]
    )
    parser.add_argument("out", type=Path, help="folder of the new checkpoint")
    parser.add_argument(
        "shares", nargs="+", metavar="FOLDER=SHARE", help="a checkpoint and its share of the mean"
    )
    arguments = parser.parse_args()
    with in_one_sentence("model.train.average"):
        given = (said.rpartition("=") for said in arguments.shares)
        average({Path(folder): float(share) for folder, _, share in given}, arguments.out)


if __name__ == "__main__":
    main()
