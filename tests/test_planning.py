"""What plans of all steps have in common, and the memory they are held against."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdgcl import _memory
from fdgcl._checks import InputError
from fdgcl._memory import available_bytes, parse_size, total_bytes
from fdgcl.planning import Plan, check_memory


def test_sentences_tell_what_is_known_and_nothing_else() -> None:
    least = Plan(does=("sorts",), peak_bytes=3 * 10**9)
    assert least.describe() == ["sorts", "memory: up to 3 GB"]
    whole = Plan(
        does=("sorts", "writes"),
        peak_bytes=3 * 10**9,
        aside="input aside",
        memory=4 * 10**9,
        least_bytes=10**9,
        disk_bytes=5 * 10**9,
        temporary_bytes=7 * 10**9,
        seconds=120.0,
    )
    assert whole.describe() == [
        "sorts",
        "writes",
        "memory: up to 3 GB of 4 GB; 1.01 GB would do, input aside",
        "disk: 5 GB, and 7 GB more on the way",
        "time: about 2 min",
    ]
    told = json.loads(json.dumps(whole.to_dict()))
    assert told["does"] == ["sorts", "writes"]
    assert told["seconds"] == 120.0
    assert told["dense_flops"] is None


def test_what_does_not_fit_is_refused() -> None:
    plan = Plan(does=(), peak_bytes=9, memory=10**9, least_bytes=10**9)
    plan.check()
    Plan(does=(), peak_bytes=9, least_bytes=10**9).check()  # no bound
    small = Plan(
        does=(), peak_bytes=9, memory=10**9 - 1, least_bytes=10**9, purpose="for seven"
    )
    with pytest.raises(InputError, match=r"at least 1\.01 GB for seven, got 1 GB$"):
        small.check()


@given(st.integers(10**3, 9 * 10**14))
def test_what_is_said_to_be_enough_is(least: int) -> None:
    with pytest.raises(InputError) as refusal:
        check_memory(1, least)
    found = re.search("at least (.*), got", str(refusal.value))
    assert found is not None
    check_memory(parse_size(found[1]), least)


def test_the_limit_of_a_container_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_memory, "_GROUP", tmp_path)
    outside = available_bytes()
    assert 2**20 < outside <= total_bytes()
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("3000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 500000\n")
    # Half a million bytes are of files that were read, and can be dropped.
    assert available_bytes() == 2_500_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() > 2_500_000
