"""Seconds by rates, rates by measurements, and bytes as they are counted."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.store.arrays import write_array
from fdgcl.planning.cost import (
    RATES,
    Problem,
    Rates,
    diffuse_seconds,
    diffused_bytes,
    embed_seconds,
    embedding_bytes,
    import_seconds,
    import_temporary_bytes,
    store_bytes,
    train_seconds,
)
from scale.calibration import (
    GUESSES,
    STAGES,
    Measurement,
    fit_rates,
    residuals,
    stage_seconds,
)
from scale.page import measurement_of, read_records

ROOT = Path(__file__).parents[2]
NOTHING = Rates(**{field.name: 0.0 for field in fields(Rates)})
BASE = Problem(
    nodes=1000,
    edges=9000,
    entries=18_000,
    features=48,
    dim=32,
    epochs=3,
    columns=16,
    products=10,
)


def only(name: str, value: float = 1.0) -> Rates:
    return replace(NOTHING, **{name: value})


def test_work_is_what_one_counts_by_hand() -> None:
    def diffuse(name: str) -> float:
        return diffuse_seconds(1000, 18_000, 48, 20, 10, 2, rates=only(name))

    assert import_seconds(9000, 1000, 48, rates=only("edge")) == 9000
    assert import_seconds(9000, 1000, 48, rates=only("feature")) == 48_000
    assert import_seconds(9000, 1000, 48, rates=only("import_start")) == 1
    assert diffuse("spectrum") == 18_000
    assert diffuse("entry") == 18_000 * 10 * 3  # 20, 20 and 8 columns
    assert diffuse("entry_column") == 18_000 * 10 * 48
    assert diffuse("term") == 48_000 * 10 * 3
    assert diffuse("diffused") == 48_000 * 2
    # Two views forward and backward, two Gram matrices; two covariances before.
    products = 3 * (4 * 48 * 32 + 2 * 32 * 32) + 2 * 48 * 48
    train = train_seconds(1000, 48, 32, 3, rates=only("multiply_add"))
    assert train == 1000 * products
    assert embed_seconds(1000, 48, 32, rates=only("multiply_add")) == 2000 * 48 * 32
    assert embed_seconds(1000, 48, 32, rates=only("embedded")) == 32_000


def test_threads_share_what_is_computed_and_not_what_is_fixed() -> None:
    sizes, fixed = (10**6, 10**8, 64, 16, 10, 2), RATES.diffuse_start
    two, four = (diffuse_seconds(*sizes, threads) for threads in (2, 4))
    assert diffuse_seconds(*sizes) == two
    assert four - fixed == pytest.approx((two - fixed) / 2)


def test_a_stage_is_the_sum_of_its_parts() -> None:
    p = BASE
    train = train_seconds(p.nodes, p.features, p.dim, p.epochs)
    embed = embed_seconds(p.nodes, p.features, p.dim)
    assert stage_seconds(p, "train") == pytest.approx(train + embed)
    taken = import_seconds(p.edges, p.nodes, p.features)
    assert stage_seconds(p, "import") == taken
    with pytest.raises(InputError, match="unknown stage 'rest'"):
        stage_seconds(p, "rest")
    with pytest.raises(InputError, match="columns must be a whole number of at least"):
        replace(p, columns=0)


def _varied() -> list[Problem]:
    """Problems that differ in one size each, so that every rate shows."""
    big = replace(BASE, nodes=10**6, edges=10**7, entries=2 * 10**7, dim=128)
    changes: list[dict[str, int]] = [
        {},
        {"nodes": 3 * 10**6},
        {"edges": 5 * 10**7},
        {"entries": 10**8},
        {"features": 200},
        {"columns": 48},
        {"products": 3},
        {"products": 40},
        {"dim": 512},
        {"epochs": 1},
        {"epochs": 20},
        {"orders": 1},
    ]
    return [BASE, *(dataclasses.replace(big, **change) for change in changes)]


def _measure(rates: Rates, noise: float = 0.0) -> list[Measurement]:
    rng = np.random.default_rng(0)
    return [
        Measurement(
            problem,
            {
                stage: stage_seconds(problem, stage, rates=rates)
                * (1 + noise * rng.standard_normal())
                for stage in STAGES
            },
        )
        for problem in _varied()
    ]


def test_rates_are_found_again_from_what_they_predict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    factors = np.random.default_rng(1).uniform(0.5, 2.0, len(asdict(GUESSES)))
    true = Rates(*(factors * list(asdict(GUESSES).values())).tolist())
    measured = _measure(true)
    for apart in residuals(measured, fit_rates(measured)):
        assert max(map(abs, apart.values())) < 0.06
    monkeypatch.setattr("scale.calibration._PULL", 1e-6)
    for name, value in asdict(fit_rates(measured)).items():
        # The pull towards the guesses, a millionth, counts by the square of its ratio
        # to the smallest singular value of what is fitted: that is 0.01 here, and 3e-5
        # would do.
        assert value == pytest.approx(getattr(true, name), rel=1e-3), name


def test_a_fit_to_noise_predicts_within_it_and_is_never_negative() -> None:
    measured = _measure(RATES, noise=0.05)
    found = fit_rates(measured)
    assert all(value >= 0 for value in asdict(found).values())
    apart = [v for one in residuals(measured, found) for v in one.values()]
    assert np.sqrt(np.mean(np.square(apart))) < 0.06


def test_rates_that_nothing_was_measured_of_stay() -> None:
    found = fit_rates([Measurement(BASE, {"import": 5.0})])
    assert found.embedded == pytest.approx(GUESSES.embedded)
    assert found.import_start != pytest.approx(GUESSES.import_start, rel=0.1)
    # The pull towards the guesses keeps it from what was measured by a little.
    assert stage_seconds(BASE, "import", rates=found) == pytest.approx(5.0, rel=0.05)


def test_nothing_measured_is_refused() -> None:
    with pytest.raises(InputError, match="no measured runs"):
        fit_rates([])
    with pytest.raises(InputError, match="must be positive"):
        fit_rates([Measurement(BASE, {"import": 0.0})])


def test_bytes_are_those_of_the_files(tmp_path: Path) -> None:
    nodes, entries, features = 50, 320, 24
    arrays = {
        "starts": np.zeros(nodes + 1, np.int64),
        "neighbours": np.zeros(entries, np.int32),
        "weights": np.zeros(entries, np.float32),
        "0": np.zeros((nodes, 16), np.float32),
        "1": np.zeros((nodes, 8), np.float32),
    }
    found = {
        name: write_array(tmp_path / f"{name}.npy", array).nbytes
        for name, array in arrays.items()
    }
    weighted = store_bytes(nodes, entries, features, weighted=True)
    assert weighted == sum(found.values())
    assert store_bytes(nodes, entries, features) == weighted - found["weights"]
    assert store_bytes(2**31, 0, 0) == 8 * (2**31 + 1)
    assert store_bytes(2**31, 10, 0) - store_bytes(2**31, 0, 0) == 80
    # By hand: a key of 8 bytes for each way; a weight of 4 with it.
    assert import_temporary_bytes(100) == 1600
    assert import_temporary_bytes(100, symmetric=False, weighted=True) == 1200
    assert diffused_bytes(nodes, features, 2) == 2 * (found["0"] + found["1"])
    assert embedding_bytes(nodes, 16) == found["0"] + 8 * nodes


def test_the_defaults_are_fitted_to_the_committed_measurements() -> None:
    folder = ROOT / "results" / "scale"
    if not list(folder.glob("*.json")):
        pytest.fail(
            "results/scale holds no record: `fdgcl bench --out-of-core -o "
            "results/scale/NAME.json` measures one"
        )
    found = fit_rates(measurement_of(record) for record in read_records(folder))
    for name, value in asdict(found).items():
        # Three digits are written: 1.005 is 1.00 or 1.01.
        assert getattr(RATES, name) == pytest.approx(value, rel=5e-3), (
            f"{name} should be {value:.3g}: `python tools/render_scale.py --rates`"
        )
