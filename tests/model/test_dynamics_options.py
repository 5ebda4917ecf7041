"""Options of a dynamics as they are given to the estimator, and what is refused."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from sklearn.base import clone

from fdgcl import FDGCL, Graph
from fdgcl._checks import InputError

from .test_dynamics import new


@pytest.mark.parametrize(
    ("name", "options", "settings", "message"),
    [
        (
            "grand-attention",
            None,
            {"strategy": "precompute"},
            "'grand-attention'.*strategy 'precompute'",
        ),
        ("cde", None, {"solver": "exact"}, "solver 'exact'.*dynamics 'cde'"),
        ("graphcon", None, {"solver": "exact"}, "solver 'exact'.*'graphcon'"),
        ("cde", None, {"keep": ("global",)}, "'cde'.*only 'features'.*not 'global'"),
        ("cde", None, {"keep": ("features", "local")}, "not 'local'"),
        ("cde", None, {"batch_size": 79}, "'cde'.* no smaller batch_size, got 79"),
        ("cde", None, {"gradient": "adjoined"}, 'did you mean "adjoint"'),
        ("gred", None, {}, "unknown dynamics 'gred'; did you mean \"gread\""),
        ("gread", {"reactoin": "fisher"}, {}, "'reactoin'; did you mean \"reaction\""),
        ("gread", {"reaction": "fischer"}, {}, 'did you mean "fisher"'),
        ("gread", {"rate": 2.0}, {}, "'gread' has no option 'rate'"),
        ("gread", {"trained": "yes"}, {}, "trained must be True or False, got 'yes'"),
        ("gread", {"nu": float("nan")}, {}, "nu must be a finite number"),
        ("grand", {"nu": 1.0}, {}, "'grand' has no option 'nu' .*no options"),
        ("cde", {"convection": -1.0}, {}, "convection must be zero or more"),
        ("grand-attention", {"heads": 1.5}, {}, "heads must be a whole number"),
        ("gread", [("nu", 1.0)], {}, "dynamics_options must map names to values"),
        ("gread", "nu=1", {}, "dynamics_options must map names to values"),
    ],
)
def test_what_a_dynamics_cannot_do_is_named(
    graph: Graph, name: str, options: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        new(name, options, **settings).fit(graph)


def test_whole_numbers_may_be_written_as_floats(graph: Graph) -> None:
    found = [
        new("grand-attention", {"heads": heads, "width": width}).fit_transform(graph)
        for heads, width in ((2, 3), (2.0, 3.0))
    ]
    assert found[0].tobytes() == found[1].tobytes()


def test_any_mapping_will_do_for_options(graph: Graph, tmp_path: Path) -> None:
    options = MappingProxyType({"coupling": "tanh", "nu": 0.5})
    new("graphcon", options).fit(graph, run=tmp_path / "run")  # type: ignore[arg-type]
    assert FDGCL.load(tmp_path / "run").dynamics_options == dict(options)


def test_options_are_kept_by_clone(graph: Graph) -> None:
    options = {"reaction": "fisher", "nu": 0.5}
    model = new("gread", options)
    copied = clone(model)
    assert copied.get_params()["dynamics_options"] == options
    same = copied.fit_transform(graph)
    assert model.fit_transform(graph).tobytes() == same.tobytes()
    assert options == {"reaction": "fisher", "nu": 0.5}
    other = copied.set_params(dynamics_options={"reaction": "fisher", "nu": 0.9})
    assert other.fit_transform(graph).tobytes() != same.tobytes()
