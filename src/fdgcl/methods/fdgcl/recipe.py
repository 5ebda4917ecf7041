"""What all tasks of a diffusion follow, written down once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from fdgcl.diffusion.basis import Basis
from fdgcl.graphs.diagnosis import FeatureFindings
from fdgcl.graphs.scaling import ColumnScale
from fdgcl.operators.feature_correlation import FeatureCorrelation
from fdgcl.operators.neighbour_information import NeighbourInformation

FORMAT = "fdgcl-diffused-4"

#: Stands for the means over neighbours where the number of an order may stand.
AVERAGE: Literal["neighbours"] = "neighbours"
Block = int | Literal["neighbours"]


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a task needs to know, the same for every one of them.

    Attributes:
        settings: Those that the result depends on.
        columns: The first column of each slice, and the number of all columns.
        coefficients: (orders, terms) weights of the basis.
        basis: How its terms are made.
        wide: Whether sums run in float64.
        lambda_max: Bound on the spectrum of L.
        informative: Whether the features tell of those of neighbours.
        findings: What the columns of the features tell.
        neighbours: What neighbours tell of a node, beside its own features.
        correlation: How features correlate along the edges; None where these are
            directed, and known one way only.
        scale: Of the features' columns, where they are scaled.
        averages: Whether there are means over neighbours beside the orders.
        held: Share of their variance that reduced features have, where that is known.
    """

    settings: dict[str, Any]
    columns: tuple[int, ...]
    coefficients: NDArray[np.float64]
    basis: Basis
    wide: bool
    lambda_max: float
    informative: bool
    findings: FeatureFindings
    neighbours: NeighbourInformation
    correlation: FeatureCorrelation | None = None
    scale: ColumnScale | None = None
    averages: bool = False
    held: float | None = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All that there is of each slice: the orders and, perhaps, the means."""
        return *range(len(self.coefficients)), *((AVERAGE,) if self.averages else ())

    @property
    def num_slices(self) -> int:
        """Number of tasks."""
        return len(self.columns) - 1

    def slice(self, number: int) -> slice:
        """The columns of a task."""
        return slice(self.columns[number], self.columns[number + 1])

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON, which keeps every digit."""
        basis, scale, correlation = self.basis, self.scale, self.correlation
        means = None if scale is None else scale.means
        return {
            "format": FORMAT,
            "settings": self.settings,
            "columns": list(self.columns),
            "coefficients": self.coefficients.tolist(),
            "product": basis.product.tolist(),
            "current": basis.current.tolist(),
            "previous": basis.previous.tolist(),
            "is_fitted": basis.is_fitted,
            "wide": self.wide,
            "lambda_max": self.lambda_max,
            "informative": self.informative,
            "findings": self.findings.to_dict(),
            "neighbours": asdict(self.neighbours),
            "correlation": None if correlation is None else asdict(correlation),
            "column_weights": None if scale is None else scale.weights.tolist(),
            "column_means": None if means is None else means.tolist(),
            "averages": self.averages,
            "held": self.held,
        }

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        product, current, previous = (
            np.array(value[key]) for key in ("product", "current", "previous")
        )
        weights, means = value["column_weights"], value.get("column_means")
        correlation = value["correlation"]
        scale = None
        if weights is not None:
            scale = ColumnScale(
                np.array(weights), None if means is None else np.array(means)
            )
        return cls(
            dict(value["settings"]),
            tuple(value["columns"]),
            np.array(value["coefficients"]),
            Basis(product, current, previous, bool(value["is_fitted"])),
            bool(value["wide"]),
            float(value["lambda_max"]),
            bool(value["informative"]),
            FeatureFindings(**value["findings"]),
            NeighbourInformation(**value["neighbours"]),
            None if correlation is None else FeatureCorrelation(**correlation),
            scale,
            bool(value.get("averages", False)),
            value["held"],
        )
