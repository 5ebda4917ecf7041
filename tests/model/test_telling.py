"""What a fit tells: progress, notices, warnings. None of it changes results."""

from __future__ import annotations

import doctest
import io
import logging
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import fdgcl
from fdgcl import FDGCL, Graph, _bars, _notices
from fdgcl._checks import InputError
from fdgcl.training import TrainingWarning
from helpers.papers_method import papers_method

QUICK: dict[str, Any] = {"dim": 12, "epochs": 4, "device": "cpu"}


def test_progress_changes_nothing(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_bars, "LINE_SECONDS", 0.0)
    mute = FDGCL(**QUICK)
    expected = mute.fit_transform(graph, progress=False)
    assert stream.getvalue() == ""
    model = FDGCL(**QUICK)
    assert np.array_equal(model.fit_transform(graph, progress=True), expected)
    lines = stream.getvalue()
    assert "diffusing: 7 of 7 columns, " in lines
    assert f"training: 4 of 4 epochs, loss {model.history_[-1].loss:.4f}, " in lines
    told = [mute.transform(graph, progress=choice) for choice in (True, False, None)]
    assert all(np.array_equal(one, told[0]) for one in told)
    assert model.fit(graph, progress=True) is model


def test_scripts_see_no_progress(
    graph: Graph, capfd: pytest.CaptureFixture[str]
) -> None:
    FDGCL(**QUICK).fit(graph).transform(graph)
    assert capfd.readouterr() == ("", "")


def test_other_kinds_of_progress_are_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="progress must be True, False, None or a fun"):
        FDGCL(**QUICK).fit(graph, progress=1)  # type: ignore[arg-type]


def test_every_notice_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    edges = [("ann", "bob"), ("bob", "cleo"), ("cleo", "ann"), ("cleo", "dan")]
    graph = Graph.from_edges(edges)
    model = FDGCL(**QUICK, structural="degree")

    def logged() -> list[str]:
        records = [record for record in caplog.records if record.name == "fdgcl"]
        assert {record.levelname for record in records} <= {"INFO"}
        caplog.clear()
        return [record.getMessage() for record in records]

    with caplog.at_level(logging.INFO, logger="fdgcl"):
        for tell in (
            lambda: model.plan(graph),
            lambda: model.fit(graph),
            lambda: model.fit_transform(graph),
            lambda: model.transform(graph),
            lambda: model.views(graph),
        ):
            tell()
            lines = logged()
            assert model.notices_
            assert [lines.count(notice) for notice in model.notices_] == [1] * len(
                model.notices_
            )


def test_the_logger_is_silent_by_default() -> None:
    code = (
        "import logging; from fdgcl import FDGCL, Graph; "
        "FDGCL(dim=16, epochs=1).fit(Graph.from_edges([(0, 1), (1, 2), (2, 0)])); "
        "found = logging.getLogger('fdgcl').handlers; "
        "assert [type(one) for one in found] == [logging.NullHandler]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_warnings_are_of_one_class_and_point_at_the_caller(graph: Graph) -> None:
    assert issubclass(TrainingWarning, fdgcl.FdgclWarning)
    assert issubclass(fdgcl.FdgclWarning, UserWarning)
    shifted = graph.with_features(np.array(graph.features) + 6)
    literal = {"standardize": False, "activation": "relu", "init_scale": 1.0}
    model = papers_method(**{**QUICK, "epochs": 60}, **literal)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(shifted)
    assert any("collapsed" in str(one.message) for one in found)
    assert all(issubclass(one.category, fdgcl.FdgclWarning) for one in found)
    assert {one.filename for one in found} == {__file__}


def test_examples() -> None:
    with warnings.catch_warnings():
        result = doctest.testmod(_notices)
    assert result.attempted
    assert not result.failed
