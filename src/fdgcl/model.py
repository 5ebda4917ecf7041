"""FDGCL: the estimator. Graph in, embedding out, no labels."""

from __future__ import annotations

from typing import Any, Self

from fdgcl._estimator import takes
from fdgcl.embedder import GraphEmbedder
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.presets import preset_settings


class FDGCL(GraphEmbedder):
    """Embeddings without labels, by contrasting orders of diffusion.

    The defaults amplify no frequency on any graph and are meant for a graph nobody has
    seen; `FDGCL.preset(name)` gives the settings for a known dataset.

    Attributes:
        history_: One record an epoch.
        notices_: What was decided for the user.
        plan_: How the diffusion was done, and what it was expected to cost.
        stability_: What it does to each frequency; None where it is not linear.
        stability_notes_: The same in words.
        fit_seconds_: Seconds spent diffusing and training.
    """

    method_name = "fdgcl"

    @takes(Settings)
    def __init__(self) -> None:
        """Keep the settings; they are checked when fitting."""

    def check(self) -> Settings:
        """Check all settings and return them; bad ones raise `InputError`."""
        settings: Settings = super().check()
        return settings

    @classmethod
    def preset(cls, name: str, *, variant: str = "best", **overrides: Any) -> Self:
        """Return a model with the settings for a known dataset, some overridden.

        Args:
            name: The dataset.
            variant: `best` for ours, `paper` for the paper's method and settings.
            overrides: Settings to use instead.
        """
        return cls(**{**preset_settings(name, variant), **overrides})
