"""Colours that people can tell apart, colour-blind or not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fdgcl.report.palette import DARK, LIGHT

# How colours look without one kind of cone: Machado, Oliveira and Fernandes, A
# physiologically-based model for simulation of color vision deficiency, 2009.
EYES = {
    "normal": np.eye(3),
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
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(color: str) -> np.ndarray:
    values = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(color: str, background: str) -> float:
    one, other = sorted(float((TO_XYZ @ linear(c))[1]) for c in (color, background))
    return (other + 0.05) / (one + 0.05)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_all_pairs_differ(palette: tuple[str, ...], eye: str) -> None:
    seen = [lab(np.array(EYES[eye]) @ linear(color)) for color in palette]
    distances = [float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)]
    assert min(distances) > 14


def test_all_colours_stand_out_from_the_page() -> None:
    assert min(contrast(color, "#FFFFFF") for color in LIGHT) > 2.2
    assert min(contrast(color, "#14171C") for color in DARK) > 4
