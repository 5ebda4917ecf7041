"""Scores of embeddings. Everything here takes arrays, never a model."""

from fdgcl.evaluation.clustering import cluster
from fdgcl.evaluation.folds import graph_svm
from fdgcl.evaluation.multilabel import multilabel_probe
from fdgcl.evaluation.neighbours import knn, knn_values
from fdgcl.evaluation.probe import linear_probe
from fdgcl.evaluation.ranking import roc_auc
from fdgcl.evaluation.results import (
    ClusterResult,
    FoldScores,
    KNNResult,
    KNNValueResult,
    MultilabelResult,
    ProbeResult,
    RidgeResult,
)
from fdgcl.evaluation.ridge import ridge_probe
from fdgcl.evaluation.validation import validation_scores

__all__ = [
    "ClusterResult",
    "FoldScores",
    "KNNResult",
    "KNNValueResult",
    "MultilabelResult",
    "ProbeResult",
    "RidgeResult",
    "cluster",
    "graph_svm",
    "knn",
    "knn_values",
    "linear_probe",
    "multilabel_probe",
    "ridge_probe",
    "roc_auc",
    "validation_scores",
]
