"""Numbers of positions, from which relative positions are made, with a hook point at which they can be changed."""

from jaxtyping import Shaped
from torch import Tensor

from ..hooks import HookPoint

Numbers = Shaped[Tensor, "#batch position ..."]


def numbers_in_batch(point: HookPoint, numbers: Shaped[Tensor, "position ..."], n_inputs: int) -> Numbers:
    """The numbers of the positions of `n_inputs` inputs as the hook point `point` leaves them; one row where all have the
    same.
    """
    by_input = point(numbers.expand(n_inputs, *numbers.shape))
    is_repeated = (
        by_input.stride(0) == 0
    )  # nothing has changed them, and they need not be computed with again
    return by_input[:1] if is_repeated else by_input
