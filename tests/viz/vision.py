"""How colours look: their difference in CIELAB, their contrast, and what colour-blind readers see of them."""

import numpy as np
from PIL import ImageColor

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0; they work on linear RGB.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def rgb(*colours: str) -> np.ndarray:
    """[colour, 3] from 0 to 255."""
    return np.array([ImageColor.getrgb(colour)[:3] for colour in colours], float)


def linear(colours: np.ndarray) -> np.ndarray:
    """Of RGB [..., 3] from 0 to 255, what the screen gives off, from 0 to 1."""
    share = np.asarray(colours, float) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def seen(colours: np.ndarray, blindness: str | None = None) -> np.ndarray:
    """CIELAB [..., 3] of RGB [..., 3] from 0 to 255, for a white of D65."""
    light = linear(colours)
    if blindness is not None:
        light = np.clip(light @ np.transpose(BLINDNESS[blindness]), 0, 1)
    ratio = light @ _TO_XYZ.T / _TO_XYZ.sum(axis=1)
    x, y, z = np.moveaxis(
        np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116), -1, 0
    )
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def difference(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """ΔE2000 of CIELAB [..., 3] (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = (np.moveaxis(np.asarray(colour, float), -1, 0) for colour in (one, other))
    mean_chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = np.where(c1 * c2 == 0, 0, (h2 - h1 + 180) % 360 - 180)
    hue = np.where(c1 * c2 == 0, h1 + h2, (h1 + turn / 2) % 360)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2

    def wave(times: float, phase: float) -> np.ndarray:
        return np.cos(np.radians(times * hue - phase))

    t = 1 - 0.17 * wave(1, 30) + 0.24 * wave(2, 0) + 0.32 * wave(3, -6) - 0.20 * wave(4, 63)
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * chroma * t)
    angle = np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2)))
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7)) * np.sin(angle)
    return np.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def contrast(colour: str, page: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio"""
    a, b = linear(rgb(colour, page)) @ [0.2126, 0.7152, 0.0722]
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
