"""Tuning another method than FD-GCL: its space, its study, its settings file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.estimators import estimator_of
from fdgcl.methods import METHODS, find_method
from fdgcl.methods.published import published, published_datasets
from fdgcl.presets import read_settings
from fdgcl.tuning import (
    SPACES,
    Budget,
    Problem,
    Space,
    load_space,
    settings_text,
    tune,
    write_settings,
)
from fdgcl.tuning.spacefile import parse_space
from tuning.tiny import Fake, run_search, tiny_plan, tiny_space

OTHERS = [name for name in METHODS if name != "fdgcl"]
STARTS = [
    (method, dataset)
    for method in OTHERS
    for dataset in (None, *published_datasets(method))
]
QUICK = {"hidden": 6, "dim": 4, "epochs": 2, "device": "cpu"}
SPACE = b"""
[search]
drop_edges = { low = 0.0, high = 0.5 }
encoder = { choices = ["gcn", "mlp"] }
"""


def start_of(method: str, dataset: str | None, **changes: Any) -> dict[str, Any]:
    first = {} if dataset is None else published(method, dataset)
    found: dict[str, Any] = estimator_of(method)(**{**first, **changes}).get_params()
    return found


def space_of(method: str, text: bytes = SPACE) -> Space:
    return parse_space(text, "space.toml", method)


@pytest.mark.parametrize(("method", "dataset"), STARTS)
def test_shipped_spaces_hold_only_settings_the_method_takes(
    method: str, dataset: str | None
) -> None:
    start, found = start_of(method, dataset), load_space(method=method)
    assert found.method == method
    found.check(start)
    rng = np.random.default_rng(1)
    for _ in range(20):
        drawn = {one.name: one.allowed.draw(rng) for one in found.dimensions}
        estimator_of(method)(**found.settings(start, drawn)).check()


@pytest.mark.parametrize(("method", "dataset"), STARTS)
def test_what_was_published_is_a_point_of_the_space(
    method: str, dataset: str | None
) -> None:
    start, found = start_of(method, dataset), load_space(method=method)
    values = found.start_values(start)
    assert found.settings(start, values) == start
    # Only what the graph decides, and what others leave without effect, has no place.
    assert {one.name for one in found.dimensions} - set(values) <= {"beta", "direction"}


def test_a_space_is_of_one_method() -> None:
    assert load_space() == load_space("default", "fdgcl")
    assert set(OTHERS) < set(SPACES)
    with pytest.raises(InputError, match="'small' is of method 'fdgcl', not of 'bgrl'"):
        load_space("small", "bgrl")
    with pytest.raises(InputError, match="'bgrl' is of method 'bgrl', not of 'fdgcl'"):
        load_space("bgrl")
    with pytest.raises(InputError, match="unknown method 'brgl'"):
        load_space(method="brgl")
    with pytest.raises(InputError, match="unknown setting 'drop_edges'"):
        parse_space(SPACE, "space.toml")
    with pytest.raises(InputError, match="beta"):
        space_of("cca-ssg", b"[search]\nbeta = { low = 0.0, high = 1.0 }")
    found = space_of("cca-ssg", b"[search]\ndrop_edges = { low = 0.0, high = 1.5 }")
    with pytest.raises(InputError, match=r"drop_edges = 1\.5 is not possible"):
        found.check(start_of("cca-ssg", None))


def test_a_study_trains_the_method_and_goes_on(
    problem: Problem, tmp_path: Path
) -> None:
    start = start_of("cca-ssg", None, **QUICK)

    def again(trials: int) -> Any:
        budget = Budget(trials=trials, top=1, fresh=1)
        space = space_of("cca-ssg")
        return tune(
            problem, start, tmp_path, space=space, budget=budget, seeds=1, device="cpu"
        )

    first, more = again(2), again(3)
    assert [one.state for one in first.records] == ["complete", "complete"]
    assert more.records[:2] == first.records
    for record in more.records:
        assert record.settings.keys() == start.keys() - {"device"}
    best = estimator_of("cca-ssg")(**more.best.record.settings)
    assert best.fit_transform(problem.graph).shape == (problem.graph.num_nodes, 4)


def test_a_study_of_another_method_is_refused(fake: Fake, tmp_path: Path) -> None:
    run_search(tmp_path / "s", fake, trials=1, fresh=0)
    text = b"[search]\nlr = { low = 0.001, high = 1.0 }"
    assert space_of("bgrl", text).source == tiny_space(text).source
    other = tiny_plan(fake.problem, space=space_of("bgrl", text))
    with pytest.raises(InputError, match="of method 'fdgcl'"):
        run_search(tmp_path / "s", fake, other, trials=1, fresh=0)
    # A plan that names no method is FD-GCL's.
    plan = tiny_plan(fake.problem)
    old = {name: one for name, one in plan.to_dict().items() if name != "method"}
    assert plan.difference(old) is None
    assert other.difference(old) == "of method 'fdgcl'"


@pytest.mark.parametrize(("method", "dataset"), STARTS)
def test_a_settings_file_says_its_method(
    method: str, dataset: str | None, tmp_path: Path
) -> None:
    file, model = tmp_path / "best.toml", estimator_of(method)
    start = start_of(method, dataset)
    write_settings(file, start, ["found"], method)
    assert file.read_text().startswith(f'# found\nmethod = "{method}"\n[settings]\n')
    found = read_settings(file, find_method(method).settings, method)
    assert model(**found).check() == model(**start).check()
    with pytest.raises(InputError, match=f"of method '{method}', .*--method {method}$"):
        read_settings(file)


def test_a_settings_file_without_a_method_is_fd_gcls(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(settings_text({"epochs": 3}))
    assert read_settings(file) == {"epochs": 3}
    kind = find_method("bgrl").settings
    with pytest.raises(InputError, match=r'names no method, .*method = "bgrl" at the'):
        read_settings(file, kind, "bgrl")
    file.write_text('method = "brgl"\n[settings]\nepochs = 3\n')
    with pytest.raises(InputError, match=r'unknown method in .*mean "bgrl"'):
        read_settings(file)
