"""Published settings are settings of their method, for datasets that there are."""

from __future__ import annotations

from typing import Any

import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.methods.bgrl import BGRL
from fdgcl.methods.cca_ssg import CCASSG
from fdgcl.methods.published import published, published_datasets

METHODS: dict[str, Any] = {"cca-ssg": CCASSG, "bgrl": BGRL}
#: As the fact sheet has them from the authors' files.
KNOWN: dict[tuple[str, str], dict[str, Any]] = {
    ("cca-ssg", "cora"): {
        "epochs": 50,
        "decorrelation": 1e-3,
        "drop_edges": 0.4,
        "drop_features": 0.1,
    },
    ("cca-ssg", "citeseer"): {
        "epochs": 20,
        "decorrelation": 5e-4,
        "drop_edges": 0.4,
        "drop_features": 0,
        "layers": 1,
    },
    ("cca-ssg", "pubmed"): {
        "epochs": 100,
        "decorrelation": 1e-3,
        "drop_edges": 0.5,
        "drop_features": 0.3,
    },
    ("cca-ssg", "computers"): {
        "epochs": 50,
        "decorrelation": 5e-4,
        "drop_edges": 0.3,
        "drop_features": 0.1,
    },
    ("cca-ssg", "photo"): {
        "epochs": 50,
        "decorrelation": 1e-3,
        "drop_edges": 0.3,
        "drop_features": 0.2,
    },
    ("bgrl", "computers"): {
        "hidden": 256,
        "dim": 128,
        "lr": 5e-4,
        "drop_edges_1": 0.5,
        "drop_edges_2": 0.4,
        "drop_features_1": 0.2,
        "drop_features_2": 0.1,
    },
    ("bgrl", "photo"): {
        "hidden": 256,
        "dim": 128,
        "lr": 1e-4,
        "drop_edges_1": 0.4,
        "drop_edges_2": 0.1,
        "drop_features_1": 0.1,
        "drop_features_2": 0.2,
    },
}
ALL = [(method, name) for method in METHODS for name in published_datasets(method)]


def test_all_of_them_are_known() -> None:
    assert set(ALL) == set(KNOWN)


@pytest.mark.parametrize(("method", "dataset"), ALL)
def test_they_are_settings_of_their_method(method: str, dataset: str) -> None:
    assert dataset in CATALOGUE
    settings = METHODS[method].settings(**published(method, dataset))
    for name, value in KNOWN[method, dataset].items():
        assert getattr(settings, name) == value


def test_others_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"bgrl 'cora' \(known: computers, photo\)"):
        published("bgrl", "cora")
    with pytest.raises(InputError, match="of fdgcl"):
        published("fdgcl", "cora")
    assert published_datasets("fdgcl") == ()
