"""Reads and replaces activations of an encoder, by named identity modules and one context manager.

Each `HookPoint` looks up the watchers of *its thread* in a context variable. Hooks that torch registers for the duration of
a call would be run in other threads as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from weakref import WeakKeyDictionary

from torch import Tensor, nn

Watcher = Callable[[Tensor], Tensor | None]

# The watchers of this thread: one mapping for each open `watch`, the outermost first.
_watching: ContextVar[tuple[Mapping["HookPoint", Watcher], ...]] = ContextVar("watching", default=())


class HookPoint(nn.Module):
    """Identity module at which `watch` reads or replaces the activation."""

    @property
    def is_watched(self) -> bool:
        """Whether a `watch` that is open in this thread reads or replaces the activation."""
        return any(self in watchers for watchers in _watching.get())

    def forward(self, activation: Tensor) -> Tensor:
        for watchers in _watching.get():
            if (watcher := watchers.get(self)) is not None:
                replacement = watcher(activation)
                activation = activation if replacement is None else replacement
        return activation


# Listing the points of an encoder takes as long as running one of its layers, so the list is kept.
_points: WeakKeyDictionary[nn.Module, Mapping[str, HookPoint]] = WeakKeyDictionary()


def hook_points(model: nn.Module) -> Mapping[str, HookPoint]:
    """All hook points of `model` by dotted name, in the order of a forward pass.

    >>> from loupe import hook_points, load
    >>> names = list(hook_points(load("checkpoints/imdb-pre-ln").model))
    >>> names[0], names[-1]
    ('embedding.content', 'logits')
    """
    if model not in _points:
        named_modules = model.named_modules()
        _points[model] = MappingProxyType(
            {name: module for name, module in named_modules if isinstance(module, HookPoint)}
        )
    return _points[model]


def is_watched(model: nn.Module, names: Iterable[str]) -> bool:
    """Whether a `watch` that is open in this thread reads or replaces the activation at one of the hook points `names`."""
    points = hook_points(model)
    return any(points[name].is_watched for name in names)


@contextmanager
def watch(model: nn.Module, watchers: Mapping[str, Watcher]) -> Iterator[None]:
    """Context manager: calls `watchers[name](activation)` at each named hook point, in forward passes of this thread alone.

    The tensor that a watcher returns replaces the activation; None leaves it unchanged. Watchers of an inner `watch`
    run after those of the outer one, on their result. Raises KeyError, with the valid names, for an unknown name.

    >>> from loupe import capture, load, watch
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> shapes = []
    >>> with watch(encoder.model, {"blocks.0.attention.z": lambda z: shapes.append(z.shape)}):
    ...     record = capture(encoder, "A gripping film.")
    >>> shapes
    [torch.Size([1, 4, 6, 32])]
    """
    points = hook_points(model)
    if unknown_names := sorted(set(watchers) - set(points)):
        raise KeyError(f"no hook point {', '.join(unknown_names)}; there are {', '.join(points)}")
    token = _watching.set((*_watching.get(), {points[name]: fn for name, fn in watchers.items()}))
    try:
        yield
    finally:
        _watching.reset(token)
