"""The recording of a training run: at chosen steps the patterns of a few fixed inputs, and norms by layer."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8

from ..inputs import prepare
from ..inputs.digits import examples
from ..loaded import Loaded
from ..measures.head_measures import head_distance
from . import recording_arrays
from .training_history import starts, tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One of the fixed inputs, with the encoder's patterns, entropies and norms at each recorded step."""

    name: str
    tokens: tuple[str, ...]
    pattern: UInt8[np.ndarray, "moment layer head query key"]  # in 255ths
    entropy: Float[np.ndarray, "moment layer head"]  # normalised, mean over queries
    residual_norm: Float[np.ndarray, "moment stage"]  # mean over positions

    def pattern_at(self, moment: int) -> Float[np.ndarray, "layer head query key"]:
        """The attention weights at a moment, from 0 to 1."""
        return self.pattern[moment] / np.float32(255)

    @property
    def layer_entropy(self) -> Float[np.ndarray, "moment layer"]:
        """Mean over the heads."""
        return self.entropy.mean(axis=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecording:
    """All arrays have one entry a moment; moments are spaced geometrically within each phase of the run."""

    tasks: tuple[str, ...]  # of each phase
    phase: Int[np.ndarray, " moment"]
    step: Int[np.ndarray, " moment"]  # within its phase
    run_step: Int[np.ndarray, " moment"]  # steps since the beginning
    accuracy: Float[np.ndarray, " moment"]  # of the phase's own task, held-out examples; NaN: not measured
    gradient_norm: Float[np.ndarray, "moment layer"]
    is_clipped: bool  # whether gradients were clipped before their norms were taken
    probes: tuple[Probe, ...]

    def __len__(self) -> int:
        return len(self.run_step)

    @property
    def phase_starts(self) -> list[int]:
        """The first moment of each phase after the first phase."""
        return (np.flatnonzero(np.diff(self.phase)) + 1).tolist()

    @property
    def n_steps(self) -> int:
        """The number of steps of all phases, up to the last recorded one."""
        return int(self.run_step[-1]) + 1


def read_recording(loaded: Loaded) -> TrainingRecording | None:
    """The recording of a checkpoint's training, None where it has none. Raises ValueError, in one sentence, where it is damaged."""
    arrays = recording_arrays(loaded.folder) if loaded.folder else None
    if arrays is None:
        return None
    try:
        task_names = tasks(loaded.history)
        n, n_layers = len(arrays["phase"]), loaded.config.n_layers
        phase, step = (_field(arrays, name, np.int64, n) for name in ("phase", "step"))
        if not loaded.history["probes"]:
            raise ValueError("it names no input that was watched")
        lengths = [int(step[phase == number].max()) + 1 for number in range(len(task_names))]
        return TrainingRecording(
            tasks=task_names,
            phase=phase,
            step=step,
            run_step=starts(lengths)[phase] + step,
            accuracy=_field(arrays, "accuracy", np.float32, n),
            gradient_norm=_field(arrays, "gradient_norm", np.float32, n, n_layers),
            is_clipped=loaded.history.get("film_gradients") != "before clipping",
            probes=tuple(
                _probe(loaded, arrays, number, name) for number, name in enumerate(loaded.history["probes"])
            ),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"the recording of {loaded.name} does not fit its history: {error}") from error


def _probe(loaded: Loaded, arrays: dict[str, np.ndarray], number: int, name: str) -> Probe:
    probe_input = name if loaded.config.is_text else examples()[0][int(name.rpartition(" ")[2])]
    tokens = prepare(loaded, probe_input)[1].tokens
    n, length = len(arrays["phase"]), len(tokens)
    n_layers, n_heads = loaded.config.n_layers, loaded.config.n_heads
    return Probe(
        name=name,
        tokens=tokens,
        pattern=_field(arrays, f"pattern.{number}", np.uint8, n, n_layers, n_heads, length, length),
        entropy=_field(arrays, f"entropy.{number}", np.float32, n, n_layers, n_heads),
        residual_norm=_field(arrays, f"residual_norm.{number}", np.float32, n, 2 * n_layers + 1),
    )


def _field(arrays: dict[str, np.ndarray], name: str, kind: type, *shape: int) -> np.ndarray:
    """An array of the recording. Raises ValueError where its type or shape is another."""
    array = arrays[name]
    if array.dtype != kind or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, it must be {kind.__name__} {shape}")
    return array


def formed_at_step(recording: TrainingRecording, probe: int) -> Int[np.ndarray, "layer head"]:
    """The step of the run at which each head reached its final pattern on a probe, as `formed_at` defines it."""
    return recording.run_step[formed_at(way_to_form(recording.probes[probe].pattern))]


def way_to_form(
    pattern: UInt8[np.ndarray, "moment layer head query key"],
) -> Float[np.ndarray, "moment layer head"]:
    """Head distance of each head at each moment to the same head at the last moment; 0 at the end."""
    n_layers, n_heads = pattern.shape[1:3]
    way = np.empty(pattern.shape[:3])
    for layer, head in np.ndindex(n_layers, n_heads):
        rows = pattern[:, layer, head].astype(np.float64)
        rows /= np.maximum(rows.sum(axis=-1, keepdims=True), 1)  # 255ths do not add up exactly
        way[:, layer, head] = head_distance(rows[-1], rows)
    return way


def formed_at(way: Float[np.ndarray, "moment layer head"]) -> Int[np.ndarray, "layer head"]:
    """The first moment from which on a head stays less than half as far from its final pattern as at the start."""
    far = way >= way[0] / 2
    far[-1] = False
    last_far = len(way) - 1 - np.argmax(far[::-1], axis=0)
    return np.where(far.any(axis=0), last_far + 1, 0)
