"""Captures chosen activations of a batch, or one whole forward pass as a `ForwardRecord`.

Tensors are copied from a GPU faster than by torch (`to_cpu`). Most of the time goes into the first write to new memory of the
machine. So numpy allocates it in large pages, to which several threads write at once; the GPU writes to two small buffers of pinned
memory in turn, from which the threads copy. For 417 MB on an H100, `Tensor.cpu` took 265 ms, memory of numpy alone 112, this way
with four threads 45 and with eight 32. Pinning a whole record took 170.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import cycle

import numpy as np
import torch
from jaxtyping import Float, Shaped, UInt8
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ..config import ModelConfig
from ..device import OutOfMemory, available_memory, available_on_gpu
from ..hooks import hook_points, watch
from ..inputs import InputLike
from ..loaded import Loaded
from ..masks import FullMask
from ..record import ForwardRecord
from ..record.from_arrays import positions as position_fields
from ..transformer import Transformer
from .intervention import Intervention

BY_LAYER = ("scores", "pattern", "q", "k", "v", "z")
BYTES_PER_FLOAT = 4  # float32
GB = 1e9
MEMORY_FACTOR = 1.25  # memory for a record and what is computed of it, as a multiple of the record's size
# smaller records are made without asking how much memory is free, which takes a tenth of a millisecond
UNCHECKED_BYTES = 100e6
PIECE_BYTES = 2**25  # of each of the two buffers of pinned memory
N_COPY_THREADS = 8
MIN_PINNED_BYTES = 2**20  # smaller tensors gain nothing from pinned memory

Bytes = UInt8[Tensor, " byte"]


def activations(
    loaded: Loaded,
    inputs: Sequence[InputLike],
    names: Collection[str],
    *,
    intervention: Intervention | None = None,
    gradients: bool = False,
) -> dict[str, Float[Tensor, "input ..."]]:
    """The activations at the hook points `names` (`model.hooks.hook_points`), by name, for all inputs in one batch.

    Shorter texts are padded at their end to the length of the longest. With `gradients` the activations keep their
    autograd graph: `torch.autograd.grad(result["logits"][0, 1], result["blocks.0.attention.pattern"])`.
    Raises ValueError for input of the wrong kind, or texts of different lengths for an encoder without padding,
    KeyError for an unknown name, and RuntimeError for an activation that the forward pass did not compute.

    >>> from loupe import activations, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> states = activations(encoder, ["A gripping film."], ["blocks.0.resid_post"])
    >>> states["blocks.0.resid_post"].shape
    torch.Size([1, 6, 128])
    """
    intervention = intervention or Intervention()
    batch = _padded_batch(loaded, [intervention.prepare(loaded, model_input)[0] for model_input in inputs])
    with torch.inference_mode(not gradients), torch.set_grad_enabled(gradients):
        mask = intervention.mask(loaded.model, batch)
        return _activations(loaded.model, batch, intervention, mask, names)


def capture(
    loaded: Loaded, model_input: InputLike, intervention: Intervention | None = None
) -> ForwardRecord:
    """The record of one forward pass on one text or one picture, a uint8 array [height, width] or [height, width, 3].

    Tokens beyond the encoder's positions are left out (`model.inputs.text.encode` counts them). Under an `intervention` the
    record holds the changed activations, and reordered content in its new order. Replacements by a `watch` around this call
    are applied before the intervention. Raises ValueError for input of the wrong kind, RuntimeError for an activation that was
    not computed, MemoryError for a record that the free memory cannot hold, and `torch.OutOfMemoryError` where that of the GPU
    cannot.

    >>> from loupe import capture, load
    >>> record = capture(load("checkpoints/imdb-pre-ln"), "A gripping film.")
    >>> record.tokens
    ('[CLS]', 'a', 'gripping', 'film', '.', '[SEP]')
    >>> record.pattern.shape
    (4, 4, 6, 6)
    """
    intervention = intervention or Intervention()
    model = loaded.model
    inputs, positions = intervention.prepare(loaded, model_input)
    positions = intervention.positions_as_read(positions)
    shapes = _array_shapes(model.config, len(positions))
    flat_buffer = _flat_buffer(shapes, loaded.device)
    buffers = _buffer_views(flat_buffer, shapes)
    buffer_by_hook = _buffers_by_hook(buffers)
    with torch.inference_mode():
        mask = intervention.mask(model, inputs)
        # only encoders with an output for each token have the second
        outputs = [name for name in ("logits", "token_logits") if name in hook_points(model)]
        captured = _activations(
            model, inputs, intervention, mask, (*outputs, *buffer_by_hook), buffer_by_hook
        )
        states = model.final_norm(buffers["residual"])
        repeated_inputs = inputs.expand(len(states), *inputs.shape[1:])
        # Without classes the classifier hands its input on: that is no logits.
        logits, logits_by_layer = (
            answers[:, : model.config.n_classes]
            for answers in (captured["logits"], model.classify(states, repeated_inputs))
        )
        pooled = model.pool(states[-1:], inputs)
    if mask is None or intervention.masking.method == "ignored":
        mask = torch.ones(1, 1, 1, 1, 1, dtype=torch.bool)
    arrays = {name: view.numpy() for name, view in _buffer_views(to_cpu(flat_buffer), shapes).items()}
    return ForwardRecord(
        config=model.config,
        mask=to_cpu(mask[0]).expand(shapes["pattern"]).numpy(),
        logits=to_cpu(logits[0]).numpy(),
        logits_by_layer=to_cpu(logits_by_layer).numpy(),
        pooled=to_cpu(pooled[-1]).numpy(),
        token_logits=to_cpu(captured["token_logits"][0]).numpy() if "token_logits" in captured else None,
        **position_fields(positions) | arrays,
    )


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Context manager: puts the model into evaluation mode inside the `with`, and afterwards back into the mode it was in."""
    was_training = model.training
    if was_training:
        model.eval()
    try:
        yield
    finally:
        if was_training:
            model.train()


def _padded_batch(loaded: Loaded, inputs: Sequence[Tensor]) -> Tensor:
    """Concatenates input tensors of one example each into a batch; shorter texts are padded at their end.

    Raises ValueError for texts of different lengths if the encoder has no padding token.
    """
    padding_id = loaded.config.padding_id
    if padding_id is None and len({input_tensor.shape for input_tensor in inputs}) > 1:
        raise ValueError(f"{loaded.name} knows no padding, so it reads texts of one length at a time")
    return pad_sequence(
        [input_tensor[0] for input_tensor in inputs], batch_first=True, padding_value=padding_id or 0
    )


@contextmanager
def collecting_activations(
    model: Transformer, names: Collection[str], buffers: Mapping[str, Tensor] | None = None
) -> Iterator[dict[str, Tensor]]:
    """Context manager: yields a dict, in which a forward pass inside the `with` puts its activations at the hook points
    `names`.

    An activation with a buffer of its name is copied there as soon as it is computed. While autograd is on, an activation
    that does not require a gradient is replaced by a leaf tensor that does.
    """
    captured: dict[str, Tensor] = {}

    def keep(name: str, activation: Tensor) -> Tensor:
        if buffers is not None and name in buffers:
            captured[name] = buffers[name].copy_(activation)
            # The buffer is computed with from here on, and the memory of the activation is free for the next one while the
            # cache still holds it. In another order in memory, products could be summed in another order.
            return captured[name] if activation.is_contiguous() else activation
        if torch.is_grad_enabled() and not activation.requires_grad:
            activation = activation.detach().requires_grad_()
        captured[name] = activation
        return activation

    with watch(model, {name: partial(keep, name) for name in names}):
        yield captured


def _activations(
    model: Transformer,
    inputs: Tensor,
    intervention: Intervention,
    mask: FullMask | None,
    names: Collection[str],
    buffers: Mapping[str, Tensor] | None = None,
) -> dict[str, Tensor]:
    """Runs one forward pass under the intervention, and returns the activations of the hook points `names`, by name."""
    with (
        evaluation_mode(model),
        watch(model, intervention.watchers(model, mask)),
        collecting_activations(model, names, buffers) as captured,
    ):
        model(inputs, mask)
    if missing_names := sorted(set(names) - set(captured)):
        raise RuntimeError(f"these activations were never seen: {missing_names}")
    return {name: captured[name] for name in names}


def _array_shapes(config: ModelConfig, n: int) -> dict[str, tuple[int, ...]]:
    """Shapes, by name, of those arrays of a record of `n` positions that are filled during the forward pass."""
    layers, heads = config.n_layers, config.n_heads
    return {
        **dict.fromkeys(("scores", "pattern"), (layers, heads, n, n)),
        **dict.fromkeys(("q", "k"), (layers, heads, n, config.d_k)),
        **dict.fromkeys(("v", "z"), (layers, heads, n, config.d_v)),
        "residual": (1 + 2 * layers, n, config.d_model),
    }


def _flat_buffer(shapes: Mapping[str, tuple[int, ...]], device: torch.device) -> Float[Tensor, " number"]:
    """One uninitialised tensor with room for all arrays of these `shapes`. Stacking layers afterwards would take a quarter longer.

    Raises as `capture` does for what the free memory cannot hold.
    """
    n_numbers = sum(map(math.prod, shapes.values()))
    if BYTES_PER_FLOAT * n_numbers >= UNCHECKED_BYTES:
        needed, free = BYTES_PER_FLOAT * n_numbers * MEMORY_FACTOR, available_memory()
        layers, heads, n, _ = shapes["pattern"]
        sentence = f"a forward pass over {n:,} positions in {layers} × {heads} heads takes {needed / GB:.1f} GB of memory"
        # else the system would kill the process: it grants more memory than there is, and runs out on the first write
        if free is not None and needed > free:
            raise MemoryError(f"{sentence}, and {max(free, 0) / GB:.1f} GB are free")
        if device.type == "cuda" and needed > (free_on_gpu := available_on_gpu(device)):
            raise OutOfMemory(f"{sentence}, and {free_on_gpu / GB:.1f} GB are free on the GPU")
    if device.type != "cpu":
        return torch.empty(n_numbers, device=device)
    # numpy asks the system for large pages, which come faster than many small ones
    return torch.from_numpy(np.empty(n_numbers, np.float32))


def _buffer_views(
    flat_buffer: Float[Tensor, " number"], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Tensor]:
    """Views of the buffer, by array name, that have these `shapes`."""
    parts = flat_buffer.split([math.prod(shape) for shape in shapes.values()])
    return {name: part.view(shape) for part, (name, shape) in zip(parts, shapes.items(), strict=True)}


def _buffers_by_hook(buffers: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """For each hook name, the view of the buffers into which that hook's activation, a batch of one, is copied."""
    stage_buffers = buffers["residual"].unsqueeze(1).unbind()
    views_by_hook = {"embedding.output": stage_buffers[0]}
    for layer in range(len(stage_buffers) // 2):
        views_by_hook[f"blocks.{layer}.resid_mid"] = stage_buffers[1 + 2 * layer]
        views_by_hook[f"blocks.{layer}.resid_post"] = stage_buffers[2 + 2 * layer]
    for name in BY_LAYER:
        for layer, view in enumerate(buffers[name].unsqueeze(1).unbind()):
            views_by_hook[f"blocks.{layer}.attention.{name}"] = view
    return views_by_hook


def to_cpu(values: Shaped[Tensor, "*axes"]) -> Shaped[Tensor, "*axes"]:
    """The tensor copied to the CPU; the tensor itself if it is on the CPU."""
    if values.device.type != "cuda" or values.nbytes < MIN_PINNED_BYTES:
        return values.cpu()
    source = values.flatten().view(torch.uint8)
    target = np.empty(len(source), np.uint8)
    size = min(PIECE_BYTES, len(source))
    # torch keeps these two for the next time
    pieces = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
    copy_by_pieces(source, target, pieces, _start_transfer)
    return torch.from_numpy(target).view(values.dtype).view(values.shape)


def copy_by_pieces(
    source: Bytes,
    target: UInt8[np.ndarray, " byte"],
    pieces: Sequence[UInt8[Tensor, " piece"]],
    start_transfer: Callable[[Bytes, Bytes], Callable[[], None]],
) -> None:
    """Copies `source` to `target` through two buffers (`pieces`): while one is filled, the other is copied to the target.

    `start_transfer(chunk, piece)` begins to fill a buffer with a chunk of the source, and returns a function that waits until
    the buffer is filled.
    """
    size = len(pieces[0])
    chunks = source.split(size)
    filled = [piece[: len(chunk)] for chunk, piece in zip(chunks, cycle(pieces), strict=False)]
    with ThreadPoolExecutor(N_COPY_THREADS) as threads:
        copies: list[Future[None]] = []
        wait_for_transfer = start_transfer(chunks[0], filled[0])
        for index, piece in enumerate(filled):
            wait_for_transfer()
            for copy in copies:  # out of the other piece, which the next transfer overwrites
                copy.result()
            if index + 1 < len(chunks):
                wait_for_transfer = start_transfer(chunks[index + 1], filled[index + 1])
            parts = (
                np.array_split(values, N_COPY_THREADS)
                for values in (target[index * size : (index + 1) * size], piece.numpy())
            )
            copies = [threads.submit(np.copyto, *part) for part in zip(*parts, strict=True)]
        for copy in copies:
            copy.result()


def _start_transfer(chunk: Bytes, piece: Bytes) -> Callable[[], None]:
    piece.copy_(chunk, non_blocking=True)
    return torch.cuda.current_stream(chunk.device).record_event().synchronize
