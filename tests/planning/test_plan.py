"""Slices that fit the memory they may have."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl._memory import describe_size, parse_size
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import slice_plan as planning
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from helpers.stores import make_store


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("6GB", 6 * 10**9),
        ("512MiB", 2**29),
        (" 1.5 g", 15 * 10**8),
        ("100", 100),
        ("2ki", 2048),
    ],
)
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "six", "-1GB", "0", "6 XB", "1e3"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="such as 6GB"):
        parse_size(text)


def test_sizes_are_told_shortly() -> None:
    assert [describe_size(n) for n in (999, 5.6e9, 123456)] == [
        "999 bytes",
        "5.6 GB",
        "123 kB",
    ]


@given(
    features=st.integers(1, 300),
    fitting=st.integers(1, 400),
    block=st.integers(1, 16),
    workers=st.integers(1, 9),
)
def test_slices_cover_all_columns_and_fit(
    features: int, fitting: int, block: int, workers: int
) -> None:
    bounds = planning.slice_bounds(features, fitting, block, workers)
    widths = [b - a for a, b in pairwise(bounds)]
    assert bounds[0] == 0
    assert bounds[-1] == features
    assert min(widths) >= 1
    assert max(widths) <= min(fitting, planning.MOST_COLUMNS)


def test_ten_million_nodes_in_six_gigabytes_take_two_slices() -> None:
    per_column = 10**7 * 4 * 4
    fitting = int(
        (6e9 * (1 - planning.MARGIN) - 3e8 - planning.LATER_BYTES - 1.1e8) // per_column
    )
    assert planning.slice_bounds(64, fitting, 8, 1) == (0, 32, 64)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "g", nodes=20000, edges=60000, features=20)


def test_more_memory_never_means_more_slices(store: Store) -> None:
    settings = FDGCL().check()
    base = planning.resident_bytes()
    found = []
    for extra in (170e6, 180e6, 210e6, 2e9):
        memory = int((base + extra) / (1 - planning.MARGIN))
        plan = plan_diffusion(store, settings, memory=memory)
        assert plan.peak_bytes <= memory
        found.append(len(plan.columns))
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1] == 2


def test_too_little_memory_is_refused_with_what_is_enough(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "resident_bytes", lambda: 100_000_000)
    settings = FDGCL().check()
    with pytest.raises(InputError, match="memory must be at least") as refusal:
        plan_diffusion(store, settings, memory=10**8)
    words = str(refusal.value).split()
    enough = parse_size("".join(words[words.index("least") + 1 :][:2]))
    assert plan_diffusion(store, settings, memory=enough).peak_bytes <= enough


def test_workers_share_the_memory(store: Store) -> None:
    settings = FDGCL().check()
    alone = plan_diffusion(store, settings, memory=10**10)
    shared = plan_diffusion(
        store, settings, memory=10**10, workers=4, threads=1, separate=True
    )
    assert len(alone.columns) == 2
    assert len(shared.columns) == 5
    assert shared.peak_bytes > alone.peak_bytes
    assert "4 at a time" in " ".join(shared.describe())
