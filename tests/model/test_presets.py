"""The shipped settings: they load, and they are the paper's where the paper speaks."""

from __future__ import annotations

import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.presets import PRESETS, VARIANTS, paper_defaults, preset_settings

# time, step, dim, lr, weight decay, epochs, orders, beta, eta: the paper's table
PAPER = {
    "cora": (20, 1, 256, 0.01, 5e-4, 30, 0.01, 1, 0.55, 0.15),
    "citeseer": (6, 0.4, 2048, 0.015, 5e-4, 15, 0.08, 1, 0.55, 0.15),
    "pubmed": (3, 0.5, 4096, 0.02, 5e-4, 1, 0.75, 1, 0.85, 0.2),
    "computers": (3, 0.5, 2048, 0.005, 5e-4, 1, 0.94, 1, 0.96, 0.15),
    "photo": (3, 0.5, 4096, 0.005, 5e-4, 1, 0.9, 1, 0.9, 0.04),
    "ogbn-arxiv": (30, 3, 256, 0.01, 5e-4, 55, 0.01, 1, 0.55, 0.2),
    "squirrel": (40, 5, 4096, 0.01, 5e-4, 20, 0.9, 1, 0.6, 0.01),
    "chameleon": (30, 5, 4096, 0.01, 5e-4, 20, 0.9, 1, 0.9, 0.05),
    "crocodile": (20, 2, 2048, 0.01, 5e-4, 20, 0.1, 1, 0.55, 0.01),
    "actor": (1.5, 0.15, 2048, 0.01, 5e-4, 5, 0.01, 1, 0.55, 0.01),
    "wisconsin": (20, 2, 2048, 0.01, 5e-4, 30, 0.01, 1, 0.6, 0.1),
    "cornell": (20, 2, 2048, 0.01, 5e-4, 30, 0.01, 1, 0.7, 0.2),
    "texas": (30, 10, 2048, 0.01, 5e-4, 30, 0.01, 1, 0.6, 0.01),
    "roman-empire": (2, 1.5, 4096, 0.01, 5e-4, 2, 0.001, 1, 0.5, 0.05),
    "arxiv-year": (2, 1, 512, 0.01, 5e-4, 2, 0.99, 1, 0.15, 0.01),
}


OURS = (
    "cora", "citeseer", "pubmed", "computers", "photo", "squirrel", "chameleon",
    "crocodile", "actor", "texas", "cornell", "wisconsin",
)  # fmt: skip


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_valid(name: str) -> None:
    FDGCL.preset(name).check()


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_method_has_none_of_our_additions(name: str) -> None:
    model = FDGCL.preset(name, variant="paper")
    assert model.loss == "regularized-cosmean"
    assert (model.combine, model.keep, model.feature_scaling) == ("sum", (), "none")


@pytest.mark.parametrize("name", OURS)
def test_ours_is_the_default_and_another(name: str) -> None:
    ours, paper = FDGCL.preset(name), FDGCL.preset(name, variant="paper")
    assert ours.get_params() == FDGCL.preset(name, variant="best").get_params()
    assert ours.get_params() != paper.get_params()


def test_without_ours_the_papers_is_taken() -> None:
    ours, paper = (FDGCL.preset("roman-empire", variant=v) for v in VARIANTS)
    assert ours.get_params() == paper.get_params()


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_preset_follows_the_defaults(variant: str) -> None:
    told = set(paper_defaults())
    # What nothing but the machine, the graph or the user decides.
    open_ones = {"seed", "device", "dtype", "precision", "fast", "strategy"}
    open_ones |= {"gradient", "batch_size", "window", "structural", "reduce_views"}
    open_ones |= {"direction", "beta", "dynamics_options", "loss_options"}
    assert told | open_ones == set(FDGCL().get_params())
    assert not told & open_ones
    for name in set(PRESETS) & set(PAPER):
        assert told <= set(preset_settings(name, variant))


def test_ours_compress_nothing() -> None:
    for name, features in (("texas", 1703), ("cora", 1433), ("squirrel", 2089)):
        settings = FDGCL.preset(name).check()
        parts = Parts.of(settings, settings.beta, features)
        assert (parts.made, parts.is_compressed) == (settings.dim, False)


def test_the_papers_fifteen_are_there() -> None:
    assert set(PRESETS) == {*PAPER, "cora-bundled", "proteins", "dd"}


@pytest.mark.parametrize("name", PAPER)
def test_presets_follow_the_papers_table(name: str) -> None:
    found = FDGCL.preset(name, variant="paper")
    values = (
        found.time,
        found.step,
        found.dim,
        found.lr,
        found.weight_decay,
        found.epochs,
        *found.orders,
        found.beta,
        found.eta,
    )
    assert values == PAPER[name]
    assert found.solver == "predictor"


def test_overrides_and_unknown_names() -> None:
    assert FDGCL.preset("texas", dim=8).dim == 8
    with pytest.raises(
        InputError, match=r"unknown variant 'ours' \(known: best, paper\)"
    ):
        FDGCL.preset("texas", variant="ours")
    with pytest.raises(InputError, match="cora-bundled"):
        FDGCL.preset("cora-bundled", variant="paper")
    with pytest.raises(InputError, match=r'unknown preset.*did you mean "texas"'):
        FDGCL.preset("texsa")
