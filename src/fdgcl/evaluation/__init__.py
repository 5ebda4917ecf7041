"""What an embedding is worth. Everything here takes arrays, never a model."""

from fdgcl.evaluation.clustering import cluster
from fdgcl.evaluation.folds import graph_svm
from fdgcl.evaluation.neighbours import knn
from fdgcl.evaluation.probe import linear_probe
from fdgcl.evaluation.results import ClusterResult, FoldScores, KNNResult, ProbeResult
from fdgcl.evaluation.validation import validation_scores

__all__ = [
    "ClusterResult",
    "FoldScores",
    "KNNResult",
    "ProbeResult",
    "cluster",
    "graph_svm",
    "knn",
    "linear_probe",
    "validation_scores",
]
