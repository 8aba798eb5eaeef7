"""How each checkpoint is trained. Within a pair only the norm placement differs."""

from dataclasses import asdict, dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One stretch of training with one task and one schedule."""

    task: Literal["digits", "gently changed digits", "masked tokens", "sentiment"]
    epochs: float
    batch_size: int
    learning_rate: float
    warmup: float  # share of the steps
    weight_decay: float = 0.05
    dropout: bool = False  # as the configuration says, or none


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    preset: str
    phases: tuple[Phase, ...]
    seed: int = 0
    betas: tuple[float, float] = (0.9, 0.98)
    gradient_clip: float = 1.0
    n_moments: int = 28  # of the film, a phase
    quick: bool = False

    def to_json(self) -> dict:
        return asdict(self)


_DIGITS = Phase(task="digits", epochs=45, batch_size=256, learning_rate=2e-3, warmup=0.05)
# Ends on digits closer to those that it will meet.
_GENTLE_DIGITS = Phase(
    task="gently changed digits", epochs=10, batch_size=256, learning_rate=5e-4, warmup=0.05
)
_MASKED_TOKENS = Phase(task="masked tokens", epochs=1.5, batch_size=32, learning_rate=1e-3, warmup=0.06)
_SENTIMENT = Phase(
    task="sentiment",
    epochs=0.8,
    batch_size=16,
    learning_rate=6e-4,
    warmup=0.06,
    dropout=True,
)


def recipe(name: str, quick: bool = False) -> Recipe:
    """Raises KeyError with the valid names. `quick` is the same run cut down to about a minute."""
    if name not in _RECIPES:
        raise KeyError(f"no recipe for {name!r}; there are {', '.join(_RECIPES)}")
    chosen = Recipe(preset=name, phases=_RECIPES[name])
    return replace(chosen, quick=True) if quick else chosen


def recipes() -> tuple[str, ...]:
    return tuple(_RECIPES)


_RECIPES = {
    "mnist-pre-ln": (_DIGITS, _GENTLE_DIGITS),
    "mnist-post-ln": (_DIGITS, _GENTLE_DIGITS),
    "imdb-pre-ln": (_MASKED_TOKENS, _SENTIMENT),
    "imdb-post-ln": (_MASKED_TOKENS, _SENTIMENT),
}
