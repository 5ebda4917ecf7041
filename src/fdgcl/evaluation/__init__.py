"""What an embedding is worth. Everything here takes arrays, never a model."""

from fdgcl.evaluation.clustering import cluster
from fdgcl.evaluation.neighbours import knn
from fdgcl.evaluation.probe import linear_probe
from fdgcl.evaluation.results import ClusterResult, KNNResult, ProbeResult
from fdgcl.evaluation.validation import validation_scores

__all__ = [
    "ClusterResult",
    "KNNResult",
    "ProbeResult",
    "cluster",
    "knn",
    "linear_probe",
    "validation_scores",
]
