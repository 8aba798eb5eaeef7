"""How certain a share of so many cases is: its 95 % interval."""

import numpy as np
from jaxtyping import Float, Int

Z_95 = 1.959963984540054  # quantile of the normal distribution for a two-sided 95 % interval


def wilson_interval(
    hits: Int[np.ndarray, "*axes"], n: Int[np.ndarray, "*axes"]
) -> tuple[Float[np.ndarray, "*axes"], Float[np.ndarray, "*axes"]]:
    """Ends of the 95 % interval of a share `hits` / `n`, from 0 to 1 (Wilson 1927); NaN where n is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = hits / n
        centre = (share + Z_95**2 / (2 * n)) / (1 + Z_95**2 / n)
        half = Z_95 / (1 + Z_95**2 / n) * np.sqrt(share * (1 - share) / n + Z_95**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
