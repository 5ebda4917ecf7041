"""What holds for the estimator of every method."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from fdgcl import block_model
from fdgcl._checks import InputError
from fdgcl.embedder import GraphEmbedder
from fdgcl.estimators import estimator_of
from fdgcl.methods import METHODS, find_method


@pytest.mark.parametrize("method", METHODS)
def test_no_setting_hides_what_an_estimator_does(method: str) -> None:
    settings = {field.name for field in fields(find_method(method).settings)}
    assert settings.isdisjoint(dir(GraphEmbedder))


@pytest.mark.parametrize("method", METHODS)
def test_views_are_the_methods_or_refused(method: str) -> None:
    graph = block_model(30, num_features=4, seed=0)
    model = estimator_of(method)(dim=4, epochs=1, device="cpu").fit(graph)
    if not model.has_views:
        with pytest.raises(InputError, match="no views beside its embedding"):
            model.views(graph)
        return
    views = model.views(graph)
    assert len(views) == 2
    assert all(view.shape == (30, 4) and np.isfinite(view).all() for view in views)
