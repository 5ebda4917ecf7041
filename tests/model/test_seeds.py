"""What is drawn from a seed is drawn once."""

from __future__ import annotations

import torch

from fdgcl.methods.fdgcl.method import new_views
from helpers.papers_method import papers_method


def test_no_dynamics_starts_from_the_numbers_of_an_encoder() -> None:
    """Both are drawn uniformly: from one seed they would be the same but for scale."""
    for seed in range(3):
        settings = papers_method(dynamics="cde", dim=20, seed=seed).check()
        views = new_views(settings, 20, 0.5)
        for weight in views.weights:
            for dynamics in views.dynamics:
                pair = torch.stack([weight.flatten(), dynamics.matrix.flatten()])
                assert abs(float(torch.corrcoef(pair)[0, 1].detach())) < 0.3
