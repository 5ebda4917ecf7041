"""k-means and its agreement with labels."""

from __future__ import annotations

import numpy as np
import pytest

from fdgcl import cluster
from fdgcl._checks import InputError

Y = np.repeat(np.arange(3), 40)
SEPARATE = np.eye(3)[Y] * 5 + 0.1 * np.random.default_rng(0).standard_normal((120, 3))


def test_separate_blobs_are_found() -> None:
    found = cluster(SEPARATE, Y, seed=0, repeats=5)
    assert max(found.nmi) == pytest.approx(1)
    assert max(found.ari) == pytest.approx(1)
    for label in range(3):
        assert len(set(found.assignments[label == Y])) == 1
    assert len(found.nmi) == 5


def test_noise_has_no_information() -> None:
    noise = np.random.default_rng(1).standard_normal((600, 5))
    found = cluster(noise, np.random.default_rng(2).integers(0, 3, 600), repeats=3)
    # By chance both are some 4 / 600 for three groups of 600 nodes.
    assert max(found.ari) < 0.05
    assert max(found.nmi) < 0.05


def test_unlabelled_nodes_are_clustered_but_not_scored() -> None:
    hidden = np.where(np.arange(120) % 2, Y, -1)
    found = cluster(SEPARATE, hidden, repeats=5)
    assert found.num_clusters == 3
    assert len(found.assignments) == 120
    assert max(found.nmi) == pytest.approx(1)


def test_without_labels() -> None:
    found = cluster(SEPARATE, num_clusters=4)
    assert found.nmi == ()
    assert found.to_dict()["nmi_mean"] is None
    assert set(found.assignments) == {0, 1, 2, 3}
    with pytest.raises(InputError, match="needs num_clusters"):
        cluster(SEPARATE)
    with pytest.raises(InputError, match="must not exceed the 120 rows"):
        cluster(SEPARATE, num_clusters=121)


def test_same_seed_same_clusters() -> None:
    first, again = (cluster(SEPARATE, Y, seed=4, repeats=2) for _ in range(2))
    np.testing.assert_array_equal(first.assignments, again.assignments)
    assert first.nmi == again.nmi
