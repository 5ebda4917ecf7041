"""Every case of the corpus does what is written down of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .collection import CASES, recorded, run

READINGS = recorded()


def test_cases_have_names_of_their_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 320


def test_no_reading_is_recorded_of_a_case_that_is_not_there() -> None:
    assert set(READINGS) <= {case.name for case in CASES if not case.refused}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FDGCL_DATA", raising=False)
    found = run(case, tmp_path)
    if found is not None:
        # `python -m corpus.record` from the folder tests writes it anew.
        assert found == READINGS.get(case.name)
