"""Watching an encoder from outside: named identity modules and one context manager.

Each `HookPoint` looks into a context variable for who is watching *in this thread*. Hooks registered for a
call would fire for other threads' calls as well.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from weakref import WeakKeyDictionary

from torch import Tensor, nn

Watcher = Callable[[Tensor], Tensor | None]

# Who is watching in this thread: one mapping for each `watch` that is open, the outermost first.
_watching: ContextVar[tuple[Mapping["HookPoint", Watcher], ...]] = ContextVar("watching", default=())


class HookPoint(nn.Module):
    """Identity, unless somebody is watching: the place where an activation can be read or replaced."""

    def forward(self, activation: Tensor) -> Tensor:
        for watchers in _watching.get():
            if (watcher := watchers.get(self)) is not None:
                replaced = watcher(activation)
                activation = activation if replaced is None else replaced
        return activation


# Finding the points of an encoder takes as long as one of its layers: it is done once.
_points: WeakKeyDictionary[nn.Module, Mapping[str, HookPoint]] = WeakKeyDictionary()


def hook_points(model: nn.Module) -> Mapping[str, HookPoint]:
    """All hook points of `model` by dotted name, in the order in which a forward passes them.

    >>> from loupe import hook_points, load
    >>> names = list(hook_points(load("checkpoints/imdb-pre-ln").model))
    >>> names[0], names[-1]
    ('embedding.content', 'logits')
    """
    if model not in _points:
        named = model.named_modules()
        _points[model] = MappingProxyType({name: part for name, part in named if isinstance(part, HookPoint)})
    return _points[model]


@contextmanager
def watch(model: nn.Module, watchers: Mapping[str, Watcher]) -> Iterator[None]:
    """Calls `watchers[name](activation)` inside the `with`, for forwards of this thread alone.

    What a watcher returns replaces the activation; None leaves it. An inner `watch` adds to the outer
    one: where both name the same point, it sees what the outer one made of the activation. Raises
    KeyError, with the valid names, for an unknown one.

    >>> from loupe import capture, load, watch
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> shapes = []
    >>> with watch(encoder.model, {"blocks.0.attention.z": lambda z: shapes.append(z.shape)}):
    ...     record = capture(encoder, "A gripping film.")
    >>> shapes
    [torch.Size([1, 4, 6, 32])]
    """
    points = hook_points(model)
    if unknown := sorted(set(watchers) - set(points)):
        raise KeyError(f"no hook point {', '.join(unknown)}; there are {', '.join(points)}")
    token = _watching.set((*_watching.get(), {points[name]: fn for name, fn in watchers.items()}))
    try:
        yield
    finally:
        _watching.reset(token)
