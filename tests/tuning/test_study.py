"""Studies on disk: budgets, going on, agreeing, stopping early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fdgcl._checks import InputError
from fdgcl.tuning import Budget, NoTrialError, Problem, tune
from fdgcl.tuning.locks import is_alive, worker
from fdgcl.tuning.objective import HopelessError
from fdgcl.tuning.search import Search
from fdgcl.tuning.study import open_study
from tuning.tiny import (
    Fake,
    run_search,
    tiny_graph,
    tiny_plan,
    tiny_space,
    tiny_start,
    worth,
)


def test_the_first_trial_is_the_start(fake: Fake, tmp_path: Path) -> None:
    plan = tiny_plan(fake.problem)
    records = run_search(tmp_path / "s", fake, trials=3, fresh=0)
    assert records[0].is_start
    assert records[0].settings == plan.start
    assert not any(one.is_start for one in records[1:])
    assert records[0].values["lr"] == 0.01
    assert [len(row) for row in records[0].scores] == [2, 2]


def test_the_search_finds_the_optimum(fake: Fake, tmp_path: Path) -> None:
    records = run_search(tmp_path / "s", fake, trials=30, fresh=0)
    best = max(one.value for one in records if one.state == "complete")
    assert best > 0.85
    assert records[0].value == pytest.approx(worth(records[0].settings) + 0.0005)


def test_a_budget_counts_all_trials_of_the_study(fake: Fake, tmp_path: Path) -> None:
    assert len(run_search(tmp_path / "s", fake, trials=4, fresh=0)) == 4
    done = len(fake.calls)
    assert len(run_search(tmp_path / "s", fake, trials=4, fresh=0)) == 4
    assert len(fake.calls) == done
    assert len(run_search(tmp_path / "s", fake, trials=6, fresh=0)) == 6


def test_a_study_in_parts_is_the_study_in_one(problem: Problem, tmp_path: Path) -> None:
    whole = run_search(tmp_path / "whole", Fake(problem), trials=16, fresh=0)
    for trials in (3, 12, 16):
        parts = run_search(tmp_path / "parts", Fake(problem), trials=trials, fresh=0)
    assert [one.values for one in parts] == [one.values for one in whole]
    assert [one.value for one in parts] == [one.value for one in whole]


def test_minutes_end_a_search(fake: Fake, tmp_path: Path) -> None:
    """Five trials of 12 s; the sixth is cut off, and is the next call's first."""
    fake.ticks = 6.0
    records = run_search(tmp_path / "s", fake, minutes=1.1, fresh=0)
    assert [one.state for one in records[:6]] == ["complete"] * 5 + ["interrupted"]
    assert [one.seconds for one in records[:5]] == [12.0] * 5
    assert [one.state for one in records[6:]] == ["waiting"]
    again = run_search(tmp_path / "s", fake, trials=6, fresh=0)
    assert len(again) == 7
    assert again[6].values == records[5].values
    assert again[6].state in ("complete", "pruned")


def test_minutes_cover_the_comparison_with_fresh_seeds(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten minutes: up to a third is kept back for four trials, two seeds each."""
    monkeypatch.setattr("fdgcl.tuning.ranking._SMALL", 1.0)
    fake = Fake(problem, ticks=10.0)
    run_search(tmp_path / "s", fake, minutes=10, top=3, fresh=2)
    fresh = [seed for _, seed in fake.calls if seed > 1]
    assert sorted(fresh) == [2] * 4 + [3] * 4
    assert 580 < fake.now <= 610


def test_one_trial_does_not_take_all_the_minutes(fake: Fake, tmp_path: Path) -> None:
    """The start takes 2 s, others minutes: at most a tenth of ten of them, though."""
    fake.ticks = 1.0

    def slow(settings: Any, seed: int) -> None:
        if settings["activation"] == "relu":
            fake.now += 70

    fake.before = slow
    records = run_search(
        tmp_path / "s", fake, minutes=10, trials=5, fresh=0, slowest=1000
    )
    reasons = {one.reason for one in records if one.settings["activation"] == "relu"}
    assert reasons == {"takes longer than 60 s"}


def test_the_first_limit_that_is_reached_ends_it(fake: Fake, tmp_path: Path) -> None:
    records = run_search(tmp_path / "s", fake, minutes=5, trials=2, fresh=0)
    assert len(records) == 2


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({}, "needs a number of trials"),
        ({"trials": 0}, "trials must be"),
        ({"minutes": -1}, "minutes must be positive"),
        ({"trials": 1, "top": 0}, "top must be"),
    ],
)
def test_budgets_that_are_none(budget: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Budget(**budget)


def test_hopeless_trials_stop_early(problem: Problem, tmp_path: Path) -> None:
    """A space with an absurd choice: trials that take it stop after the first seed."""
    text = b"""
    [search]
    lr = { low = 0.05, high = 0.2, log = true }
    activation = { choices = ["relu", "linear"] }
    """
    plan = tiny_plan(problem, space=tiny_space(text), seeds=(0, 1, 2))

    class Absurd(Fake):
        def scores(self, settings: Any, seed: int, tick: Any) -> Any:
            lost = 0.5 if settings["activation"] == "relu" else 0.0
            for part in super().scores(settings, seed, tick):
                yield tuple(value - lost for value in part)

    fake = Absurd(problem)
    records = run_search(tmp_path / "s", fake, plan, trials=24, fresh=0)
    later = records[10:]
    absurd = [one for one in later if one.settings["activation"] == "relu"]
    assert absurd, "the sampler never tried it again: a larger budget is needed"
    assert all(one.state == "pruned" for one in absurd)
    for one in absurd:
        assert sum(call == one.settings for call, _ in fake.calls) == 1
        assert one.value == pytest.approx(worth(one.settings) - 0.5)
    good = [one.state for one in later if one.settings["activation"] == "linear"]
    assert good.count("complete") >= len(good) / 3


def test_trials_that_fail_do_not_end_the_search(fake: Fake, tmp_path: Path) -> None:
    def fail(settings: Any, seed: int) -> None:
        if settings["activation"] == "relu":
            raise HopelessError("diverged")

    fake.before = fail
    records = run_search(tmp_path / "s", fake, trials=8, fresh=0)
    assert len(records) == 8
    assert {one.state for one in records if one.settings["activation"] == "relu"} == {
        "failed"
    }
    assert any(one.state == "complete" for one in records)


def test_a_formula_without_a_value_fails_one_trial(fake: Fake, tmp_path: Path) -> None:
    text = b"""
    [search]
    lr = { low = 0.01, high = 1.0 }
    part = { low = 0, high = 1, start = "1" }
    [derived]
    time = "4 / part"
    """
    plan = tiny_plan(fake.problem, space=tiny_space(text))
    records = run_search(tmp_path / "s", fake, plan, trials=8, fresh=0)
    failed = [one for one in records if one.values["part"] == 0]
    assert failed
    assert {one.state for one in failed} == {"failed"}
    assert "no finite value for part = 0" in failed[0].reason
    assert any(one.state == "complete" for one in records)


def test_if_nothing_works_it_says_why(fake: Fake, tmp_path: Path) -> None:
    def fail(settings: Any, seed: int) -> None:
        raise HopelessError("the loss is not finite")

    fake.before = fail
    with open_study(tmp_path / "s", tiny_plan(fake.problem)) as study:
        search = Search(study, fake, Budget(trials=3))
        search.run()
        with pytest.raises(NoTrialError, match=r"not one of 3 .* not finite"):
            search.standings()


def test_an_interrupted_trial_is_queued_again_once(fake: Fake, tmp_path: Path) -> None:
    plan = tiny_plan(fake.problem)

    def stop(settings: Any, seed: int) -> None:
        if len(fake.calls) > 6:
            raise KeyboardInterrupt

    fake.before = stop
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_search(tmp_path / "s", fake, trials=6, fresh=0)
    fake.before = lambda settings, seed: None
    records = run_search(tmp_path / "s", fake, plan, trials=6, fresh=0)
    states = [one.state for one in records]
    assert states[3:5] == ["interrupted", "failed"]
    assert records[3].values == records[4].values
    # The one that was queued again took its place; the second failure counts.
    assert len(records) == 7


def test_fresh_seeds_compare_the_best_and_the_start(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdgcl.tuning.ranking._SMALL", 1.0)
    plan = tiny_plan(fake.problem)
    with open_study(tmp_path / "s", plan) as study:
        search = Search(study, fake, Budget(trials=7, top=3, fresh=2))
        search.run()
        standings = search.standings()
        done = len(fake.calls)
        search.run()
    assert len(fake.calls) == done, "what is known is not run again"
    assert len(standings) == 4
    assert sum(one.record.is_start for one in standings) == 1
    assert {seed for _, seed in fake.calls} == {0, 1, 2, 3}
    for one in standings:
        expected = worth(one.record.settings)
        assert one.fresh == ((expected + 0.002,) * 2, (expected,) * 2)


def test_if_time_ends_the_comparison_those_compared_come_first(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fresh seeds for the two best only: the others follow, unjudged."""
    monkeypatch.setattr("fdgcl.tuning.ranking._SMALL", 1.0)
    with open_study(tmp_path / "s", tiny_plan(fake.problem)) as study:
        search = Search(study, fake, Budget(trials=6, top=4, fresh=2))

        def stop(settings: Any, seed: int) -> None:
            fresh = [one for one in fake.calls if one[1] == 2]
            if len(fresh) > 2:
                raise KeyboardInterrupt

        fake.before = stop
        with pytest.raises(KeyboardInterrupt):
            search.run()
        found = search.standings()
    assert [len(one.fresh) for one in found] == [1, 1, 0, 0, 0]
    values = [one.record.value for one in found]
    assert values[0] > values[1] > values[2] > values[3]


def test_a_trial_that_fails_with_a_fresh_seed_is_not_taken(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdgcl.tuning.ranking._SMALL", 1.0)
    with open_study(tmp_path / "s", tiny_plan(fake.problem)) as study:
        search = Search(study, fake, Budget(trials=7, top=3, fresh=2))
        search.run()
        best = search.standings()[0].record
    (tmp_path / "s" / "study.db").unlink()

    def fail(settings: Any, seed: int) -> None:
        if seed == 3 and settings == best.settings:
            raise HopelessError("diverged")

    fake.before = fail
    with open_study(tmp_path / "s", tiny_plan(fake.problem)) as study:
        search = Search(study, fake, Budget(trials=7, top=3, fresh=2))
        search.run()
        numbers = [one.record.number for one in search.standings()]
    assert best.number not in numbers
    assert len(numbers) == 3


def test_other_plans_are_refused(fake: Fake, tmp_path: Path) -> None:
    plan = tiny_plan(fake.problem)
    run_search(tmp_path / "s", fake, plan, trials=1, fresh=0)
    other = Problem.of(tiny_graph(seed=4)).fingerprint()
    less = tiny_space(b"[search]\nlr = { low = 0.1, high = 1.0 }")
    for changes, message in (
        ({"fingerprint": other}, r"on other data \(tiny\)"),
        ({"seeds": (0,)}, "with --seeds 2"),
        ({"space": less}, "in another space"),
        ({"start": {**plan.start, "dim": 9}}, r"from other settings \(dim 8\)"),
        ({"start": {**plan.start, "memory": None}}, "by another version of fdgcl"),
    ):
        with (
            pytest.raises(InputError, match=message),
            open_study(tmp_path / "s", tiny_plan(fake.problem, **changes)),
        ):
            pass


@pytest.mark.parametrize(
    "content", [b"not a database", b"SQLite format 3\0" + b"x" * 99]
)
def test_damaged_studies_are_refused(
    content: bytes, fake: Fake, tmp_path: Path
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.db").write_bytes(content)
    with pytest.raises(InputError, match=r"study\.db is not a study"):
        run_search(tmp_path / "s", fake, trials=1)


def test_workers_are_alive_as_long_as_they_work(tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    with worker(folder) as name:
        assert is_alive(folder, name)
    assert not is_alive(folder, name)
    (folder / "killed").touch()
    assert not is_alive(folder, "killed")
    assert not list(folder.iterdir())


def test_importances_point_at_what_matters(problem: Problem, tmp_path: Path) -> None:
    with open_study(tmp_path / "s", tiny_plan(problem)) as study:
        Search(study, Fake(problem), Budget(trials=12, fresh=0)).run()
        assert study.importances() == {}
        Search(study, Fake(problem), Budget(trials=40, fresh=0)).run()
        found = study.importances()
    assert sum(found.values()) == pytest.approx(1)
    assert set(list(found)[:2]) == {"lr", "beta"}


def test_tune_really_trains(problem: Problem, tmp_path: Path) -> None:
    told: list[tuple[int, bool]] = []
    found = tune(
        problem,
        tiny_start(beta=0.5),
        tmp_path / "s",
        space=tiny_space(),
        budget=Budget(trials=3, top=1, fresh=1),
        seeds=1,
        device="cpu",
        on_trial=lambda record, is_best: told.append((record.number, is_best)),
    )
    assert [number for number, _ in told] == [0, 1, 2]
    assert told[0] == (0, True)
    assert not found.interrupted
    assert found.baseline is not None
    assert 0.5 < found.best.mean <= 1
    if found.best is found.baseline:
        assert not found.improves
    assert "device" not in found.best.record.settings


def test_slow_trials_are_stopped(fake: Fake, tmp_path: Path) -> None:
    fake.ticks = 10.0

    def slow(settings: Any, seed: int) -> None:
        if settings["activation"] == "relu":
            fake.now += 180

    fake.before = slow
    states = {}
    for slowest in (5, 10):
        records = run_search(
            tmp_path / f"s{slowest}", fake, trials=6, fresh=0, slowest=slowest
        )
        slowed = [one for one in records if one.settings["activation"] == "relu"]
        states[slowest] = {(one.state, one.reason) for one in slowed}
        rest = [one for one in records if one not in slowed]
        assert {one.state for one in rest} <= {"complete", "pruned"}
    # 190 s for the first seed; the start took 20 s.
    assert states[5] == {("failed", "takes longer than 100 s")}
    assert ("failed", "takes longer than 200 s") not in states[10]


def test_early_trials_vary_the_start(fake: Fake, tmp_path: Path) -> None:
    records = run_search(tmp_path / "s", fake, trials=10, fresh=0)
    shared = [
        sum(one.values[name] == value for name, value in records[0].values.items())
        for one in records
    ]
    assert sum(shared[1::2]) >= 12
    assert sum(shared[2::2]) <= 6
