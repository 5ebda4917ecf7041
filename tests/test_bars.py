"""Progress is shown to whom it is for, and where it can be."""

from __future__ import annotations

import builtins
import io
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

import pytest

from fdgcl import _bars
from fdgcl._bars import Bars, Drawn, Lines, bars, watched
from fdgcl._checks import InputError

#: Of IPython, in a notebook and in a terminal.
NOTEBOOK, TERMINAL = "ZMQInteractiveShell", "TerminalInteractiveShell"


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A session that nobody looks at, to be changed by the test."""
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setitem(sys.modules, "IPython", None)
    return monkeypatch


def in_shell(patch: pytest.MonkeyPatch, name: str) -> None:
    """Pretend to run inside IPython."""
    shell = type(name, (), {})()
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    patch.setitem(sys.modules, "IPython", ipython)
    patch.setattr(builtins, "get_ipython", ipython.get_ipython, raising=False)


class Stream(io.StringIO):
    """Text, perhaps that of a terminal."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return super().isatty() or self._terminal  # a closed one raises


def test_lines_come_every_ten_seconds(clock: Clock) -> None:
    told: list[str] = []
    lines = Lines(told.append, clock)
    for epoch in range(1, 31):
        clock.now += 1
        lines("train", epoch, 100, "loss 0.5000")
    # The first epoch was heard of after one second: a second for each of the others.
    assert told == [
        "training: 10 of 100 epochs, loss 0.5000, 0:00:10 elapsed, about 0:01:30 left",
        "training: 20 of 100 epochs, loss 0.5000, 0:00:20 elapsed, about 0:01:20 left",
        "training: 30 of 100 epochs, loss 0.5000, 0:00:30 elapsed, about 0:01:10 left",
    ]


def test_short_work_has_no_lines(clock: Clock) -> None:
    told: list[str] = []
    lines = Lines(told.append, clock)
    for epoch in range(1, 10):
        clock.now += 1
        lines("train", epoch, 9)
        lines.beat()
    assert told == []


def test_lines_come_while_nothing_is_reported(clock: Clock) -> None:
    told: list[str] = []
    lines = Lines(told.append, clock)
    clock.now += 60
    lines.beat()
    assert told == [], "there is nothing to tell yet"
    with lines.waiting("read"):
        for _ in range(20):
            clock.now += 1
            lines.beat()
    times = ("0:01:00", "0:01:10", "0:01:20")
    assert told == [f"reading: {passed} elapsed" for passed in times]


def test_what_is_at_its_end_is_told_once(clock: Clock) -> None:
    told: list[str] = []
    lines = Lines(told.append, clock)
    lines("slices", 3, 4)
    clock.now += 3700
    lines("slices", 4, 4)
    for _ in range(50):
        clock.now += 1
        lines.beat()
    assert told == ["diffusing: 4 of 4 slices, 1:01:40 elapsed"]


def test_an_estimate_begins_with_the_stage(clock: Clock) -> None:
    """Not with what an earlier start had done, nor with the stage before."""
    told: list[str] = []
    lines = Lines(told.append, clock)
    lines.part("seed 3")
    lines("diffuse", 512, 512)
    clock.now += 8
    lines("train", 51, 60)
    clock.now += 4
    lines("train", 53, 60)
    assert told == [
        "seed 3, training: 53 of 60 epochs, 0:00:12 elapsed, about 0:00:14 left"
    ]


def test_lines_come_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bars, "LINE_SECONDS", 0.0)
    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    with bars(shown=True) as lines, lines.waiting("read"):
        deadline = time.monotonic() + 30
        while stream.getvalue().count("reading: ") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_lines_to_a_closed_stream_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bars, "LINE_SECONDS", 0.0)
    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    with bars(shown=True) as lines:
        stream.close()
        lines("train", 1, 2)


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    with bars(shown=True) as drawn:
        assert isinstance(drawn, Drawn)
        with drawn.waiting("read"):
            pass
        drawn("diffuse", 3, 7)
        drawn.part("[b]seed 1[/b]")
        drawn("train", 3, 7, "loss 0.1234")
    text = stream.getvalue()
    assert "[b]seed 1[/b], training" in text
    assert "3/7 epochs, loss 0.1234" in text


def test_nothing_is_shown_where_nothing_is_asked_for() -> None:
    with bars(shown=False) as silent:
        assert type(silent) is Bars
        silent("train", 1, 2, "loss 1")


def test_scripts_are_silent(script: pytest.MonkeyPatch) -> None:
    script.setattr(sys, "stderr", Stream(terminal=True))
    with watched(None) as tell:
        assert tell is None


@pytest.mark.parametrize("shell", [None, TERMINAL])
@pytest.mark.parametrize("terminal", [True, False])
def test_sessions_on_a_terminal_show_a_bar(
    script: pytest.MonkeyPatch, shell: str | None, terminal: bool
) -> None:
    if shell is None:
        script.setattr(sys, "ps1", ">>> ", raising=False)
    else:
        in_shell(script, shell)
    script.setattr(sys, "stderr", Stream(terminal=terminal))
    with watched(None) as tell:
        assert isinstance(tell, Drawn) if terminal else tell is None
    with watched(False) as tell:
        assert tell is None


@pytest.mark.parametrize("stream", [None, "closed"])
def test_sessions_without_stderr_are_silent(
    script: pytest.MonkeyPatch, stream: str | None
) -> None:
    script.setattr(sys, "ps1", ">>> ", raising=False)
    closed = Stream(terminal=True)
    closed.close()
    script.setattr(sys, "stderr", stream and closed)
    with watched(None) as tell:
        assert tell is None


def test_a_notebook_without_widgets_has_lines(script: pytest.MonkeyPatch) -> None:
    in_shell(script, NOTEBOOK)
    script.setitem(sys.modules, "ipywidgets", None)
    script.setattr(_bars, "LINE_SECONDS", 0.0)
    stream = Stream()
    script.setattr(sys, "stderr", stream)
    with watched(None) as tell:
        assert isinstance(tell, Lines)
        tell("train", 1, 2)
    assert "training: 1 of 2 epochs" in stream.getvalue()


def test_a_notebook_with_widgets_has_a_bar(script: pytest.MonkeyPatch) -> None:
    in_shell(script, NOTEBOOK)
    shown: list[Any] = []

    class Output:
        closed = False

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

        def clear_output(self, wait: bool) -> None:
            pass

        def close(self) -> None:
            self.closed = True

    display: Any = types.ModuleType("IPython.display")
    display.display = shown.append
    widgets: Any = types.ModuleType("ipywidgets")
    widgets.Output = Output
    script.setitem(sys.modules, "IPython.display", display)
    script.setitem(sys.modules, "ipywidgets", widgets)
    with watched(None) as tell:
        assert isinstance(tell, Drawn)
        tell("train", 1, 2)
        tell._progress.refresh()
    [widget] = [one for one in shown if isinstance(one, Output)]
    assert widget.closed
    assert any("1/2 epochs" in str(getattr(one, "text", "")) for one in shown)


def test_a_function_is_told_instead() -> None:
    def tell(stage: str, done: int, total: int) -> None:
        pass

    with watched(tell) as given:
        assert given is tell


def test_other_answers_are_refused() -> None:
    with pytest.raises(InputError, match=r"progress must be True, .*, got 'yes'"):
        watched("yes").__enter__()  # type: ignore[arg-type]
