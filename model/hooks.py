"""Watching an encoder from outside: named identity modules and one context manager.

Each `HookPoint` carries one permanent forward hook, which looks into a context variable for who is
watching *in this thread*. Hooks registered per call would fire for other threads' calls as well.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor, nn

Watcher = Callable[[Tensor], Tensor | None]

# Who is watching in this thread: one mapping for each `watch` that is open, the outermost first.
_watching: ContextVar[tuple[Mapping["HookPoint", Watcher], ...]] = ContextVar("watching", default=())


class HookPoint(nn.Module):
    """Identity: the place where an activation can be read or replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.register_forward_hook(_look)

    def forward(self, activation: Tensor) -> Tensor:
        return activation


def _look(point: HookPoint, _inputs: tuple[Tensor], activation: Tensor) -> Tensor | None:
    for watchers in _watching.get():
        replaced = watchers[point](activation) if point in watchers else None
        activation = activation if replaced is None else replaced
    return activation


def hook_points(model: nn.Module) -> dict[str, HookPoint]:
    """All hook points of `model` by dotted name, in the order in which a forward passes them."""
    return {name: part for name, part in model.named_modules() if isinstance(part, HookPoint)}


@contextmanager
def watch(model: nn.Module, watchers: Mapping[str, Watcher]) -> Iterator[None]:
    """Calls `watchers[name](activation)` inside the `with`, for forwards of this thread alone.

    What a watcher returns replaces the activation; None leaves it. An inner `watch` adds to the outer
    one: where both name the same point, it sees what the outer one made of the activation. Raises
    KeyError, with the valid names, for an unknown one.
    """
    points = hook_points(model)
    if unknown := sorted(set(watchers) - set(points)):
        raise KeyError(f"no hook point {', '.join(unknown)}; there are {', '.join(points)}")
    token = _watching.set((*_watching.get(), {points[name]: fn for name, fn in watchers.items()}))
    try:
        yield
    finally:
        _watching.reset(token)
