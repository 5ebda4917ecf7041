"""Feed readers with mutated files, and count what comes of them.

    python tools/fuzz_readers.py --seconds 600 --processes 2 --out /tmp/fuzz
    python tools/fuzz_readers.py --only edges.csv,config.json --inputs 20000

A reader may succeed or raise InputError. Everything else is a find: another exception,
a message of several lines, more memory or time than a small file can need, a process
that dies. Each find is kept with the file that led to it. Inputs follow from the seed:
`--only TARGET --seed S --first I --inputs 1` is one of them again.

Workers are forked for twenty seconds each, under a limit of memory; one that
dies or hangs is replaced, and the input that it had is a find.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import mmap
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError
from fuzz_mutations import mutate_bytes

BATCH = 100_000
MEMORY = 1 << 30
SECONDS = 5.0
HANGS = 20.0
# Before the first input, what is imported late may take a while.
WARMING = 2**64 - 1
# A batch that runs as long has done its part, however few inputs that were.
BATCH_SECONDS = 20.0


class TooSlowError(BaseException):
    """An input took more than its time; not an Exception, which a reader may catch."""


def mutated(rng: random.Random, seed: bytes, changes: tuple[Any, ...]) -> bytes:
    """Return a file that is changed by one mutation, or by two."""
    for _ in range(1 + (rng.random() < 0.2)):
        change = rng.choice((mutate_bytes, *changes))
        with contextlib.suppress(Exception):  # of a file that is no such file any more
            seed = change(rng, seed)
    return seed


def outcome(read: Any, source: Any) -> tuple[str, str]:
    """Read a source; return what came of it, and the traceback of a find."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        read(source)
    except InputError as error:
        several = len(str(error).splitlines()) != 1
        return ("several lines", str(error)) if several else ("refused", "")
    except TooSlowError:
        return "slow", traceback.format_exc()
    except Exception as error:
        return type(error).__name__, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "read", ""


def work(
    name: str,
    seeds: Path,
    place: Path,
    first: int,
    count: int,
    seed: int,
    index: mmap.mmap,
) -> None:
    """Run inputs in a process of their own; leaves `counts.json` in `place`."""
    from fuzz_targets import TARGETS

    signal.signal(signal.SIGALRM, _too_slow)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    target = TARGETS[name]
    folder = place / "files"
    shutil.copytree(seeds, folder)
    file = folder / target.file
    whole = file.read_bytes()
    # As it should be it is read, and what is imported late is then there.
    target.read(whole if target.in_memory else folder)
    counts: Counter[str] = Counter()
    end = time.monotonic() + BATCH_SECONDS
    number = first
    while number < first + count and time.monotonic() < end:
        index[:8] = number.to_bytes(8, "little")
        rng = random.Random(f"{seed}/{name}/{number}")
        data = mutated(rng, whole, target.changes)
        if not target.in_memory:
            file.write_bytes(data)
        kind, trace = outcome(target.read, data if target.in_memory else folder)
        counts[kind] += 1
        if trace:
            file.write_bytes(data)
            keep(place / "finds", name, number, kind, trace, file)
        number += 1
    result = {"counts": dict(counts), "next": number}
    (place / "counts.json").write_text(json.dumps(result))


def keep(
    finds: Path, name: str, number: int, kind: str, trace: str, file: Path
) -> None:
    """Keep the first input of each kind of find: of one traceback's places."""
    finds.mkdir(parents=True, exist_ok=True)
    places = [line for line in trace.splitlines() if line.startswith("  File")]
    mark = hashlib.sha256(f"{name} {kind} {places[-3:]}".encode()).hexdigest()[:10]
    note = finds / f"{name}-{kind.replace(' ', '-')}-{mark}.txt"
    if not note.exists():
        note.write_text(f"input {number}\n{trace}\n")
        shutil.copy(file, note.with_suffix(".input"))


def _too_slow(*_: Any) -> None:
    raise TooSlowError


class Fuzzing:
    """Counts and finds of all targets, and the processes at work."""

    def __init__(self, options: argparse.Namespace, seeds: Path) -> None:
        from fuzz_targets import TARGETS

        self.options, self.seeds = options, seeds
        self.files = {name: target.file for name, target in TARGETS.items()}
        self.names = options.only.split(",") if options.only else list(TARGETS)
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in self.names}
        self.next = dict.fromkeys(self.names, options.first)
        self.out = Path(options.out)
        self.end = time.monotonic() + options.seconds

    def run(self) -> None:
        """Go on until the time is over or every target has had its inputs."""
        (self.out / "finds").mkdir(parents=True, exist_ok=True)
        running: dict[int, dict[str, Any]] = {}
        queue = self._batches()
        while True:
            while len(running) < self.options.processes:
                batch = next(queue, None)
                if batch is None:
                    break
                started = self._start(*batch)
                running[started["pid"]] = started
            if not running:
                break
            time.sleep(0.1)
            for pid in list(running):
                if self._ended(running[pid]):
                    self._collect(running.pop(pid))
                    self.write()

    def _batches(self) -> Iterator[tuple[str, int, int]]:
        stop = self.options.first + self.options.inputs
        while time.monotonic() < self.end:
            left = [name for name in self.names if self.next[name] < stop]
            if not left:
                return
            for name in left:
                first = self.next[name]
                count = min(BATCH, stop - first)
                self.next[name] = first + count
                yield name, first, count
                if time.monotonic() >= self.end:
                    return

    def _start(self, name: str, first: int, count: int) -> dict[str, Any]:
        place = Path(tempfile.mkdtemp(prefix="fuzz-", dir=self.options.scratch))
        index = mmap.mmap(-1, 8)
        index[:8] = WARMING.to_bytes(8, "little")
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                work(name, self.seeds, place, first, count, self.options.seed, index)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        return {
            "pid": pid,
            "name": name,
            "place": place,
            "index": index,
            "first": first,
            "stop": first + count,
            "seen": -1,
            "at": 0.0,
            "status": None,
        }

    def _ended(self, one: dict[str, Any]) -> bool:
        pid, status = os.waitpid(one["pid"], os.WNOHANG)
        if pid:
            one["status"] = status
            return True
        number = int.from_bytes(one["index"][:8], "little")
        if number != one["seen"]:
            one["seen"], one["at"] = number, time.monotonic()
        elif time.monotonic() - one["at"] > (120 if number == WARMING else HANGS):
            os.kill(one["pid"], signal.SIGKILL)
            one["hung"] = True
        return False

    def _collect(self, one: dict[str, Any]) -> None:
        name, place, counts = one["name"], one["place"], self.counts[one["name"]]
        result = place / "counts.json"
        if result.is_file():
            found = json.loads(result.read_text())
            counts.update(found["counts"])
        else:
            number = int.from_bytes(one["index"][:8], "little")
            number = one["first"] if number == WARMING else number
            kind = "hangs" if one.get("hung") else f"dies-{one['status']}"
            counts[kind] += 1
            # Those before it were read or refused, which of the two is not known.
            counts["before a death"] += number - one["first"]
            file = place / "files" / self.files[name]
            keep(self.out / "finds", name, number, kind, kind, file)
        for path in (place / "finds").glob("*"):
            if not (self.out / "finds" / path.name).exists():
                shutil.copy(path, self.out / "finds")
        shutil.rmtree(place, ignore_errors=True)

    def write(self) -> None:
        """Write the counts so far."""
        value = {name: dict(counts) for name, counts in self.counts.items() if counts}
        (self.out / "counts.json").write_text(json.dumps(value, indent=1) + "\n")

    def show(self) -> int:
        """Print a table of counts; return how many inputs were finds."""
        finds = total = 0
        for name, counts in self.counts.items():
            fine = {"read", "refused", "before a death"}
            bad = {kind: count for kind, count in counts.items() if kind not in fine}
            finds, total = finds + sum(bad.values()), total + counts.total()
            print(
                f"{name:24} {counts.total():>9,} {counts['read']:>9,} read  "
                f"{counts['refused']:>9,} refused  {bad or ''}"
            )
        print(f"{total:,} inputs, {finds:,} finds; see {self.out / 'finds'}")
        return finds


def main() -> None:
    """Fuzz, and exit with 1 if there was a find."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=10**9, help="for each target")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="targets, separated by commas")
    parser.add_argument("--out", default="fuzz-out")
    shared = Path("/dev/shm")
    parser.add_argument("--scratch", default=str(shared) if shared.is_dir() else None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        seeds = Path(folder)
        # In a process of its own: threads that training starts do not survive a fork.
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                from fuzz_targets import write_seeds

                write_seeds(seeds)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if os.waitpid(pid, 0)[1]:
            raise SystemExit("the files to start from could not be written")
        fuzzing = Fuzzing(options, seeds)
        fuzzing.run()
        fuzzing.write()
    raise SystemExit(1 if fuzzing.show() else 0)


if __name__ == "__main__":
    main()
