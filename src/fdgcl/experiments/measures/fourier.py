"""Features on a graph as sums of its eigenvectors, before and after diffusion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fdgcl._checks import InputError
from fdgcl.diffusion.spectral import frequency_response
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation

Numbers = NDArray[np.float64]

# Eigenvalues closer than this are one frequency: its eigenvectors are not unique.
SAME_FREQUENCY = 1e-9
LOWEST = 0.1


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The Fourier coefficients of all features on the largest connected component.

    Attributes:
        frequencies: Eigenvalues of L = I - A, ascending; the first is 0.
        energies: Squared coefficients, summed over the columns of the features.
        components: Connected components of the whole graph.
        nodes: Nodes of the whole graph.
    """

    frequencies: Numbers
    energies: Numbers
    components: int
    nodes: int

    @property
    def distinct(self) -> int:
        """Number of different frequencies."""
        return 1 + int(np.count_nonzero(np.diff(self.frequencies) > SAME_FREQUENCY))

    @property
    def moving(self) -> NDArray[np.bool_]:
        """The frequencies above 0: those that a diffusion changes."""
        return np.asarray(self.frequencies > SAME_FREQUENCY)


def spectrum_of(
    prepared: DiffusionPreparation, device: torch.device | str = "cpu"
) -> Spectrum:
    """Take a graph and its features apart.

    Raises:
        InputError: The operator is not symmetric: it has no orthogonal eigenvectors.
    """
    operator = prepared.operator
    if not operator.has_real_spectrum or operator.matrix is not operator.similar:
        message = (
            "Fourier coefficients need direction 'symmetric' and normalization "
            f"'symmetric', got {prepared.settings.direction!r} and "
            f"{prepared.settings.normalization!r}"
        )
        raise InputError(message)
    adjacency = operator.matrix.matrix
    count, labels = connected_components(adjacency, directed=False)
    rows = np.flatnonzero(labels == np.bincount(labels).argmax())
    part = adjacency[rows][:, rows].toarray()
    laplacian = torch.from_numpy(np.eye(len(rows)) - part).to(device)
    values, vectors = torch.linalg.eigh(laplacian)
    coefficients = vectors.T @ _dense(prepared.features[rows]).to(laplacian)
    return Spectrum(
        frequencies=values.clamp_min(0).cpu().numpy(),
        energies=coefficients.square().sum(1).cpu().numpy(),
        components=int(count),
        nodes=operator.num_nodes,
    )


def response(
    prepared: DiffusionPreparation,
    order: float,
    frequencies: Numbers,
    solver: str | None = None,
) -> Numbers:
    """What the diffusion multiplies each frequency by.

    Args:
        prepared: Graph and settings; time, step and skips are the settings'.
        order: In (0, 1].
        frequencies: Eigenvalues of L.
        solver: Instead of the settings'; `exact` for the equation's own solution.
    """
    schedule = prepared.settings.schedule
    if solver is not None:
        schedule = replace(schedule, solver=solver)
    found = frequency_response(
        prepared.dynamics, schedule, order, torch.from_numpy(frequencies)
    )
    return found.numpy()


def smooth_share(energies: Numbers) -> float:
    """The share of the energy in the lowest tenth of the frequencies."""
    count = max(1, round(LOWEST * len(energies)))
    return float(energies[:count].sum() / energies.sum())


def effective_count(energies: Numbers) -> float:
    """How many frequencies share the energy: `(sum e)^2 / sum e^2`."""
    scaled = energies / energies.max()
    return float(scaled.sum() ** 2 / np.square(scaled).sum())


def mean_frequency(frequencies: Numbers, energies: Numbers) -> float:
    """Where on the axis of frequencies the energy is, on average."""
    return float(frequencies @ (energies / energies.sum()))


def binned_size(
    frequencies: Numbers, energies: Numbers, bins: int = 50
) -> tuple[list[float], list[float]]:
    """Root mean square coefficient in equal bins of frequency; empty bins are left out.

    Within a repeated frequency single coefficients depend on the choice of its
    eigenvectors; the mean of their squares does not.
    """
    edges = np.linspace(0, frequencies[-1] * (1 + 1e-12), bins + 1)
    place = np.clip(np.searchsorted(edges, frequencies, side="right") - 1, 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    sums = np.bincount(place, weights=energies, minlength=bins)
    kept = (counts > 0) & (sums > 0)
    middles = (edges[1:] + edges[:-1]) / 2
    sizes = np.sqrt(sums[kept] / counts[kept])
    return middles[kept].tolist(), sizes.tolist()


def cumulative(energies: Numbers, points: int = 101) -> list[float]:
    """Share of the energy in the lowest frequencies, from none to all of them."""
    sums = np.concatenate([[0.0], np.cumsum(energies / energies.sum())])
    grid = np.linspace(0, len(energies), points)
    return [float(v) for v in np.interp(grid, np.arange(len(sums)), sums)]


def _dense(features: csr_array | NDArray[Any]) -> torch.Tensor:
    values = features if isinstance(features, np.ndarray) else features.toarray()
    return torch.from_numpy(np.array(values, dtype=np.float64))
