"""The recording of a training run: the patterns of a few fixed inputs, and norms by layer, at selected steps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8

from ..inputs import prepare
from ..inputs.digits import examples
from ..loaded import Loaded
from ..measures.head_measures import head_distance
from . import recording_arrays
from .training_history import phase_offsets, tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A fixed input, with the encoder's patterns, entropies and norms for it at each recorded step."""

    name: str
    tokens: tuple[str, ...]
    pattern: UInt8[np.ndarray, "moment layer head query key"]  # in 255ths
    entropy: Float[np.ndarray, "moment layer head"]  # normalised, mean over queries
    residual_norm: Float[np.ndarray, "moment stage"]  # mean over positions

    @property
    def layer_entropy(self) -> Float[np.ndarray, "moment layer"]:
        """Normalised entropy of the patterns, 0 to 1, averaged over the heads of each layer."""
        return self.entropy.mean(axis=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecording:
    """The recording of a training run; its arrays have one entry for each recorded step ("moment").

    The recorded steps are spaced geometrically within each phase of the run.
    """

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
    def n_steps(self) -> int:
        """The number of steps of all phases, up to the last recorded one."""
        return int(self.run_step[-1]) + 1


def read_recording(loaded: Loaded) -> TrainingRecording | None:
    """The recording of a checkpoint's training; None if there is none.

    Raises ValueError, with a one-sentence message, if it is damaged.
    """
    arrays = recording_arrays(loaded.folder) if loaded.folder else None
    if arrays is None:
        return None
    try:
        task_names = tasks(loaded.history)
        n_moments, n_layers = len(arrays["phase"]), loaded.config.n_layers
        phase, step = (_checked_array(arrays, name, np.int64, n_moments) for name in ("phase", "step"))
        if not loaded.history["probes"]:
            raise ValueError("it names no input that was watched")
        lengths = [int(step[phase == index].max()) + 1 for index in range(len(task_names))]
        return TrainingRecording(
            tasks=task_names,
            phase=phase,
            step=step,
            run_step=phase_offsets(lengths)[phase] + step,
            accuracy=_checked_array(arrays, "accuracy", np.float32, n_moments),
            gradient_norm=_checked_array(arrays, "gradient_norm", np.float32, n_moments, n_layers),
            is_clipped=loaded.history.get("film_gradients") != "before clipping",
            probes=tuple(
                _probe(loaded, arrays, index, name) for index, name in enumerate(loaded.history["probes"])
            ),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"the recording of {loaded.name} does not fit its history: {error}") from error


def _probe(loaded: Loaded, arrays: dict[str, np.ndarray], index: int, name: str) -> Probe:
    probe_input = name if loaded.config.is_text else examples()[0][int(name.rpartition(" ")[2])]
    tokens = prepare(loaded, probe_input)[1].tokens
    n_moments, n_tokens = len(arrays["phase"]), len(tokens)
    n_layers, n_heads = loaded.config.n_layers, loaded.config.n_heads
    return Probe(
        name=name,
        tokens=tokens,
        pattern=_checked_array(
            arrays, f"pattern.{index}", np.uint8, n_moments, n_layers, n_heads, n_tokens, n_tokens
        ),
        entropy=_checked_array(arrays, f"entropy.{index}", np.float32, n_moments, n_layers, n_heads),
        residual_norm=_checked_array(
            arrays, f"residual_norm.{index}", np.float32, n_moments, 2 * n_layers + 1
        ),
    )


def _checked_array(arrays: dict[str, np.ndarray], name: str, kind: type, *shape: int) -> np.ndarray:
    """The array `name` of the recording. Raises ValueError if it is not of type `kind` and this `shape`."""
    array = arrays[name]
    if array.dtype != kind or array.shape != shape:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, it must be {kind.__name__} {shape}")
    return array


def formation_step(recording: TrainingRecording, probe: int) -> Int[np.ndarray, "layer head"]:
    """For each head, the step of the run from which on its pattern stays close to the final one (`formation_index`).

    `probe` is the index of the probe, the input whose patterns are compared.
    """
    return recording.run_step[formation_index(distances_to_final(recording.probes[probe].pattern))]


def distances_to_final(
    pattern: UInt8[np.ndarray, "moment layer head query key"],
) -> Float[np.ndarray, "moment layer head"]:
    """Distance (`head_distance`, nats) between each head's pattern at each recorded step and its pattern at the last one."""
    n_layers, n_heads = pattern.shape[1:3]
    distances = np.empty(pattern.shape[:3])
    for layer, head in np.ndindex(n_layers, n_heads):
        patterns = pattern[:, layer, head].astype(np.float64)
        patterns /= np.maximum(patterns.sum(axis=-1, keepdims=True), 1)  # 255ths do not add up exactly
        distances[:, layer, head] = head_distance(patterns[-1], patterns)
    return distances


def formation_index(distances: Float[np.ndarray, "moment layer head"]) -> Int[np.ndarray, "layer head"]:
    """Index of the recorded step from which on each head's distance to its final pattern stays below half of that at the start.

    `distances` is the result of `distances_to_final`.
    """
    is_far = distances >= distances[0] / 2
    is_far[-1] = False
    last_far_index = len(distances) - 1 - np.argmax(is_far[::-1], axis=0)
    return np.where(is_far.any(axis=0), last_far_index + 1, 0)
