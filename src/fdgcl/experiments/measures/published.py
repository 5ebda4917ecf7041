"""Accuracies on datasets of graphs as the paper's table has them, in percent.

The paper took them from the methods' own papers, it seems: all are of ten folds, but
folds, choice of the epoch and grid of the support vector machine differ from one to the
other. At least one of them (CI-GCL) reports the epoch that is best on the tested folds.
JOAOv2 and SimGRACE have the same number on PROTEINS there.
"""

from __future__ import annotations

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "proteins": {
        "InfoGraph": (74.44, 0.40),
        "MVGRL": (74.02, 0.30),
        "GraphCL": (74.39, 0.45),
        "JOAO": (74.55, 0.41),
        "JOAOv2": (75.35, 0.09),
        "SimGRACE": (75.35, 0.09),
        "DRGCL": (75.20, 0.60),
        "CI-GCL": (76.50, 0.10),
    },
    "dd": {
        "InfoGraph": (72.85, 1.70),
        "MVGRL": (75.20, 0.40),
        "GraphCL": (78.62, 0.40),
        "JOAO": (77.32, 0.54),
        "JOAOv2": (77.40, 1.11),
        "SimGRACE": (77.44, 1.11),
        "DRGCL": (78.40, 0.70),
        "CI-GCL": (79.63, 0.30),
    },
}
