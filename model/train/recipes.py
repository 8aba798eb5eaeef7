"""Recipes: how each checkpoint is trained. Within a pair of checkpoints only the norm placement differs."""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A phase of training with one task and one schedule of the learning rate."""

    task: str  # a key of `TrainingSetup.tasks`
    epochs: int | float
    batch_size: int
    learning_rate: float
    warmup: float = 0.0  # share of the steps
    falls: bool = True  # whether the rate then falls to zero along half a cosine
    weight_decay: float = 0.05
    dropout: bool = False  # whether the dropout of the configuration is used
    # with Muon (Jordan et al. 2024) for the matrices of the blocks, AdamW is still used for the rest
    optimizer: Literal["adamw", "muon"] = "adamw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one encoder is initialised and trained."""

    preset: str
    phases: tuple[Phase, ...]
    # initial standard deviation of learned positions and class token; None keeps the encoder's own
    position_std: float | None = None
    embedding_std: float | None = None  # the same of the token embeddings
    # initial linear maps: Xavier's uniform weights and zero biases, or both as torch.nn.Linear draws them
    linear_start: Literal["xavier", "torch"] = "xavier"
    holds_out: bool = True  # whether some training examples are held out for evaluations
    seed: int = 0
    betas: tuple[float, float] = (0.9, 0.98)
    gradient_clip: float | None = 1.0
    n_moments: int = 28  # snapshots in each phase
    published: str | None = None  # accuracy reported by the source of the recipe
    quick: bool = False  # a run of about a minute


_DIGITS = Phase(task="digits", epochs=45, batch_size=256, learning_rate=2e-3, warmup=0.05)
# Ends on digits that resemble the test digits more.
_GENTLE_DIGITS = Phase(
    task="gently changed digits", epochs=10, batch_size=256, learning_rate=5e-4, warmup=0.05
)
# In short windows an encoder learns sooner that neighbours matter; in long ones the loss stays for thousands of steps
# at the value that word frequencies alone give.
_SHORT_WINDOWS = Phase(
    task="masked tokens, short windows",
    epochs=2.5,
    batch_size=80,
    learning_rate=4e-3,
    warmup=0.06,
    optimizer="muon",
)
_LONG_WINDOWS = replace(_SHORT_WINDOWS, task="masked tokens", epochs=1.5, batch_size=24, learning_rate=3e-3)
# The rate fell to zero and rises again: neither encoder had converged, post-LN least of all.
_LONGER = replace(_LONG_WINDOWS, epochs=3.0)
# One label for about 56 tokens shows sooner which words matter than one for 250.
_PIECES = replace(_LONG_WINDOWS, task="sentiment of pieces", epochs=0.6, batch_size=64, learning_rate=2e-3)
_SENTIMENT = replace(_PIECES, task="sentiment", epochs=2.0, batch_size=16, learning_rate=8e-4, dropout=True)
# Two teachers are more often right than one; the second was added after the phases above.
_BETTER_LABELS = replace(_SENTIMENT, task="sentiment, two teachers", epochs=1.5)
# Then the encoders agreed with their teachers no better on training reviews than on held-out ones: they were trained too
# little, not too much. So dropout ends, and the rate rises and falls twice more.
_LONG_LAST = replace(_BETTER_LABELS, epochs=2.5, learning_rate=1.5e-3, dropout=False)
_LAST = replace(_LONG_LAST, epochs=2.0)
# Until here the encoders respond to single words. An epoch is one of the rated phrases. That a "not" reverses a word is
# learned soon where most of a batch shows it, and hardly at all among many reviews.
_SHORT_SENTENCES = Phase(
    task="short sentences",
    epochs=0.4,
    batch_size=96,
    learning_rate=1e-3,
    warmup=0.05,
    falls=False,
    dropout=True,
)
_SENTENCES = replace(_SHORT_SENTENCES, task="sentences", batch_size=64, learning_rate=7e-4, falls=True)
# Accuracy had dropped most on whole reviews.
_MORE_REVIEWS = replace(_SENTENCES, task="sentences, more reviews", epochs=0.11, learning_rate=4e-4)
# Nine in ten of the generated sentences were then classified correctly and more steps still helped; edits had been
# learned from whole reviews only, in which they are a few words among hundreds.
_EDITS = replace(_SENTENCES, task="sentences and edits", epochs=1.5, batch_size=48, warmup=0.03)
# Starts from averaged weights (`model.train.average`), which are better on reviews and worse on edits.
_AFTER_AVERAGING = replace(
    _EDITS, task="sentences, edits and reviews", epochs=0.5, batch_size=32, learning_rate=3e-4, warmup=0.05
)


def recipe(name: str, quick: bool = False) -> Recipe:
    """The recipe called `name`; a run of about a minute if `quick`. Raises KeyError, with the valid names, if there is none."""
    if name not in _RECIPES:
        raise KeyError(f"no recipe for {name!r}; there are {', '.join(_RECIPES)}")
    return replace(_RECIPES[name], quick=quick)


def recipes() -> tuple[str, ...]:
    """Names of all recipes."""
    return tuple(_RECIPES)


# "Some Code Is All You Need": Adam, 1e-3, batches of 1024, 5 epochs
_LOOKER = Phase(
    task="unchanged digits",
    epochs=5,
    batch_size=1024,
    learning_rate=1e-3,
    falls=False,
    weight_decay=0.0,
    dropout=True,
)
# "Understand Transformer Paper Through Implementation" and its notebook: AdamW, 1e-3, batches of 164
_ARTICLE = Phase(
    task="true labels",
    epochs=50,
    batch_size=164,
    learning_rate=1e-3,
    falls=False,
    weight_decay=0.01,
    dropout=True,
)
_REVIEWS = (
    _SHORT_WINDOWS,
    _LONG_WINDOWS,
    _LONGER,
    _PIECES,
    _SENTIMENT,
    _BETTER_LABELS,
    _LONG_LAST,
    _LAST,
    _SHORT_SENTENCES,
    _SENTENCES,
    _MORE_REVIEWS,
    _EDITS,
    _AFTER_AVERAGING,
)
# For an encoder small enough to be trained with several seeds.
_SMALL = (
    Phase(task="masked tokens, short windows", epochs=1.0, batch_size=80, learning_rate=2e-3, warmup=0.1),
    Phase(task="sentiment of pieces", epochs=0.12, batch_size=64, learning_rate=1.5e-3, warmup=0.05),
    Phase(task="sentences, edits and pieces", epochs=0.5, batch_size=48, learning_rate=1.5e-3, warmup=0.05),
)
SEEDS = 3


def _recipes_by_seed(preset: str, seeds: range, phases: tuple[Phase, ...]) -> dict[str, Recipe]:
    """Recipes that differ only in their seeds, by name; without snapshots, which take as much space as the encoders."""
    return {
        f"{preset}-seed{seed}": Recipe(preset=preset, seed=seed, n_moments=0, phases=phases) for seed in seeds
    }


_RECIPES = {
    recipe.preset: recipe
    for recipe in (
        Recipe(preset="mnist-pre-ln", phases=(_DIGITS, _GENTLE_DIGITS)),
        Recipe(preset="mnist-post-ln", phases=(_DIGITS, _GENTLE_DIGITS)),
        Recipe(preset="imdb-pre-ln", phases=_REVIEWS),
        Recipe(preset="imdb-post-ln", phases=_REVIEWS),
        Recipe(
            preset="looker",
            phases=(_LOOKER,),
            position_std=1.0,  # as torch.randn gives them
            holds_out=False,
            # The source prints no accuracy.
            published="97.4 to 97.6 % on the MNIST test digits, when its code was run again",
            betas=(0.9, 0.999),  # the defaults of torch's Adam
            gradient_clip=None,
            linear_start="torch",
        ),
        Recipe(
            preset="imdb-article",
            phases=(_ARTICLE,),
            embedding_std=1.0,  # as torch.nn.Embedding draws them
            # The article prints no accuracy either; its notebook does.
            published="81.4 % of a random tenth of the training reviews, at width 32 after 10 epochs",
            betas=(0.9, 0.999),  # the defaults of torch's Adam
            gradient_clip=None,
            linear_start="torch",
        ),
    )
} | {
    **_recipes_by_seed("mnist-pre-ln", range(1, 2), phases=(_DIGITS, _GENTLE_DIGITS)),
    **_recipes_by_seed("mnist-post-ln", range(1, 2), phases=(_DIGITS, _GENTLE_DIGITS)),
    **_recipes_by_seed("sentences-pre-ln", range(SEEDS), phases=_SMALL),
    **_recipes_by_seed("sentences-post-ln", range(SEEDS), phases=_SMALL),
}
