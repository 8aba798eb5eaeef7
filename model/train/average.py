"""Averages the weights of related checkpoints: `python -m model.train.average OUT FOLDER=0.6 FOLDER=0.4`.

The checkpoints must have been trained further from a common one; their mean mostly combines what only some of them have
learned (Wortsman et al. 2022, Model soups). Tokenizer, history and recording are those of the first FOLDER; the
vocabularies of the others may lack its last tokens.
"""

import argparse
from pathlib import Path

from torch import Tensor

from ..checkpoint import save
from ..checkpoint.load_or_download import exit_with_one_sentence
from ..transformer import Transformer
from .starting_checkpoint import StartingCheckpoint


def average(shares: dict[Path, float], out: Path) -> None:
    """Writes a checkpoint to the folder `out` whose weights are the mean of several; `shares` holds the share of each folder.

    Raises ValueError if the shares do not sum to 1, or the encoders differ in more than their vocabulary.
    """
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise ValueError(f"the shares add up to {sum(shares.values()):g}, not to 1")
    first_start, *_ = starts = [StartingCheckpoint.load(folder) for folder in shares]
    model = first_start.loaded.model
    states = [_weights_for_vocabulary_of(start, model) for start in starts]
    mean_weights = {
        name: sum(share * state[name].float() for share, state in zip(shares.values(), states, strict=True))
        for name in states[0]
    }
    model.load_state_dict(mean_weights)
    descriptions = [
        start.description() | {"share": share} for start, share in zip(starts, shares.values(), strict=True)
    ]
    history = first_start.loaded.history | {"averaged": descriptions}
    save(out, model.half(), history, first_start.loaded.tokenizer, first_start.film())


def _weights_for_vocabulary_of(start: StartingCheckpoint, target: Transformer) -> dict[str, Tensor]:
    """Weights of the checkpoint `start` by name, with rows added for the tokens that only the vocabulary of `target` has.

    Raises ValueError if the two encoders differ in anything else.
    """
    model = Transformer(target.config)
    if start.loaded.config.vocab_size == target.config.vocab_size:
        model = start.loaded.model
    elif start.tokenizer.get_vocab_size() == target.config.vocab_size:
        start.fill(model)
    else:
        raise ValueError(
            f"{start.loaded.name} has {start.loaded.config.vocab_size} tokens, not {target.config.vocab_size}"
        )
    state = model.state_dict()
    if {name: tensor.shape for name, tensor in state.items()} != {
        name: tensor.shape for name, tensor in target.state_dict().items()
    }:
        raise ValueError(f"{start.loaded.name} is of another size")
    return {name: tensor.clone() for name, tensor in state.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m model.train.average", description=__doc__.splitlines()[0]
    )
    parser.add_argument("out", type=Path, help="folder of the new checkpoint")
    parser.add_argument(
        "shares", nargs="+", metavar="FOLDER=SHARE", help="a checkpoint and its share of the mean"
    )
    arguments = parser.parse_args()
    with exit_with_one_sentence("model.train.average"):
        pairs = (pair.rpartition("=") for pair in arguments.shares)
        average({Path(folder): float(share) for folder, _, share in pairs}, arguments.out)


if __name__ == "__main__":
    main()
