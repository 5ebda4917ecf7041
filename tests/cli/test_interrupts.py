"""Ctrl-C ends a command, whatever Python was doing when it came."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

FINALIZER = """
class Last:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def lose():
    last = Last()
"""
CALLBACK = """
class Held:
    pass

def lose():
    held = Held()
    kept.append(weakref.ref(held, lambda _: signal.raise_signal(signal.SIGINT)))
"""
COMMAND = """
import signal, time, weakref
import fdgcl.cli.demo

kept = []
{lose}
def demo():
    lose()
    print("went on", flush=True)
    {work}

fdgcl.cli.demo.demo = demo
fdgcl.cli.main()
"""


def run(lose: str, work: str) -> subprocess.CompletedProcess[str]:
    # The tests themselves may run under nohup.
    heard = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    script = heard + COMMAND.format(lose=lose, work=work)
    return subprocess.run(
        [sys.executable, "-c", script, "demo"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("lose", [FINALIZER, CALLBACK], ids=["finalizer", "callback"])
@pytest.mark.parametrize(
    "work", ["time.sleep(50)", "while True: pass"], ids=["waiting", "working"]
)
def test_none_is_lost(lose: str, work: str) -> None:
    done = run(lose, work)
    assert done.stdout == "went on\n", "Python raises it there now: nothing to mend"
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_library_makes_of_it_is_an_interruption_too() -> None:
    lose = """
def lose():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise RecursionError("deep in an import") from None
"""
    done = run(lose, "pass")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "error: interrupted\n"
    own = run(
        lose.replace("signal.raise_signal(signal.SIGINT)", "raise KeyboardInterrupt"),
        "pass",
    )
    assert own.returncode == 1, "nobody pressed anything"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("lose", ["def lose(): pass", FINALIZER], ids=["", "lost"])
def test_other_requests_to_end_are_as_ctrl_c(name: str, lose: str) -> None:
    work = f"signal.raise_signal(signal.{name}); print('not reached')"
    if lose is FINALIZER:
        work, lose = "time.sleep(50)", lose.replace("SIGINT", name)
    done = run(lose, work)
    assert done.returncode == 128 + signal.Signals[name], done.stderr
    assert done.stdout == "went on\n"
    assert done.stderr == f"error: interrupted by {name}\n"


def test_what_is_ignored_stays_ignored() -> None:
    # As by nohup.
    lose = "def lose(): signal.raise_signal(signal.SIGHUP)"
    script = COMMAND.format(lose=lose, work="pass")
    nohup = f"import signal; signal.signal(1, signal.SIG_IGN)\n{script}"
    words = [sys.executable, "-c", nohup, "demo"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "went on\n")


def test_processes_are_started_whole_whichever_thread_gets_ctrl_c() -> None:
    # The signal is blocked in the main thread alone; the other one gets it.
    lose = (
        "import os, threading\n"
        "threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n"
        "def lose(): pass"
    )
    work = (
        "from fdgcl._interrupts import without_interrupts\n"
        "    with without_interrupts():\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(0.3)\n"
        "        print('whole')\n"
        "    print('not reached')"
    )
    done = run(lose, work)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")
    assert done.stdout == "went on\nwhole\n"


def test_repeated_sigterm_waits_for_the_end_of_an_epoch() -> None:
    work = (
        "from fdgcl._interrupts import deferred_interrupt\n"
        "    with deferred_interrupt() as interrupt:\n"
        "        assert not interrupt.requested\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "        print('an epoch', interrupt.requested, flush=True)\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        print('not reached', flush=True)"
    )
    done = run("def lose(): pass", work)
    assert done.stdout == "went on\nan epoch True\n"
    assert done.returncode == 130


def test_other_failures_of_finalizers_are_told_of() -> None:
    done = run(FINALIZER.replace("signal.raise_signal(signal.SIGINT)", "1 / 0"), "pass")
    assert done.returncode == 0
    assert "ZeroDivisionError" in done.stderr
