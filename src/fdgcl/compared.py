"""The estimators of the methods that FD-GCL is compared with.

Each has the settings of its method, and all that `FDGCL` does with them: fit,
transform, save, load, run folders that are resumed, and scikit-learn's conventions.
"""

from __future__ import annotations

from typing import Any, Self

from fdgcl._estimator import takes
from fdgcl.embedder import GraphEmbedder
from fdgcl.methods import bgrl, cca_ssg, gcn
from fdgcl.methods.published import published


class ComparedMethod(GraphEmbedder):
    """A method by other authors, some of whose settings they published."""

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Self:
        """Return a model with its authors' settings for a dataset, some overridden.

        Args:
            name: The dataset.
            overrides: Settings to use instead.

        Raises:
            InputError: The authors published none for it.
        """
        return cls(**{**published(cls.method_name, name), **overrides})


class GCN(ComparedMethod):
    """GCN encoders in place of the diffusions, with FD-GCL's losses: the ablation.

    Example:
        >>> from fdgcl import block_model
        >>> GCN(dim=4, epochs=2).fit_transform(block_model(20, seed=0)).shape
        (20, 4)
    """

    method_name = "gcn"

    @takes(gcn.Settings)
    def __init__(self) -> None:
        """Keep the settings; they are checked when fitting."""


class CCASSG(ComparedMethod):
    """CCA-SSG: two augmented views made alike, their columns decorrelated.

    Zhang et al., From Canonical Correlation Analysis to Self-supervised Graph Neural
    Networks, NeurIPS 2021. `CCASSG.preset("cora")` has the authors' settings.

    Example:
        >>> from fdgcl import block_model
        >>> model = CCASSG(hidden=8, dim=4, epochs=2)
        >>> model.fit_transform(block_model(20, seed=0)).shape
        (20, 4)
    """

    method_name = "cca-ssg"

    @takes(cca_ssg.Settings)
    def __init__(self) -> None:
        """Keep the settings; they are checked when fitting."""


class BGRL(ComparedMethod):
    """BGRL: a network predicts what a slowly following copy makes of another view.

    Thakoor et al., Large-Scale Representation Learning on Graphs via Bootstrapping,
    ICLR 2022.

    Example:
        >>> from fdgcl import block_model
        >>> model = BGRL(hidden=8, dim=4, epochs=2)
        >>> model.fit_transform(block_model(20, seed=0)).shape
        (20, 4)
    """

    method_name = "bgrl"

    @takes(bgrl.Settings)
    def __init__(self) -> None:
        """Keep the settings; they are checked when fitting."""
