"""Run commands that must fail, again and again, and count their exit codes.

What ends a process badly (a thread that outlives the interpreter, a destructor that
runs too late) does so once in ten or a hundred runs: one run proves nothing.

    python tools/repeat_failures.py                      # 200 runs of each case
    python tools/repeat_failures.py --runs 4 --only bad-number,duplicate-ids

The exit code is 0 if every run of every case ended with the code it has to, and with
nothing but one sentence on stderr.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

EDGES = "source,target\n" + "".join(f"n{i},n{(i + 7) % 50}\n" for i in range(50))
FEATURES = "id,f1,f2\n" + "".join(f"n{i},{i},{i * i}\n" for i in range(50))
WEIGHTED = "source,target,weight\na,b,1\nb,c,2\n"
FILES: dict[str, str | bytes] = {
    "edges.csv": EDGES,
    "x.csv": FEATURES,
    "no_number.csv": FEATURES.replace("n49,49", "n49,many"),
    "infinite.csv": FEATURES.replace("n49,49", "n49,inf"),
    "twice.csv": FEATURES + "n3,1,2\n",
    "few.csv": FEATURES.replace("n7,7,49\n", ""),
    "header.csv": "source,target\n",
    "loops.csv": "source,target\na,a\n",
    "wide.csv": EDGES + "n1,n2,n3\n",
    "heavy.csv": WEIGHTED + "c,a,heavy\n",
    "negative.csv": WEIGHTED + "c,a,-1\n",
    "weightless.csv": "source,target,weight\na,b,0\nb,c,0\n",
    "packed.csv": gzip.compress(EDGES.encode()),
    "words.csv": "id,label\nn1,a\nn1,b\n",
}


@dataclass(frozen=True)
class Case:
    """A command in a folder with `FILES`, and the exit code that it must have."""

    words: tuple[str, ...]
    code: int = 2


def _embed(*words: str) -> Case:
    return Case(("embed", *words, "--dim", "8", "--epochs", "1"))


def _convert(*words: str) -> Case:
    return Case(("data", "convert", *words, "-o", "g.npz"))


def _import(*words: str) -> Case:
    return Case(("data", "import", *words, "--store", "G"))


CASES = {
    "bad-number": _embed("edges.csv", "--features", "no_number.csv"),
    "duplicate-ids": _embed("edges.csv", "--features", "twice.csv"),
    "no-edges": _embed("weightless.csv"),
    "import-packed": _import("packed.csv"),
    "import-wide-row": _import("wide.csv"),
    "convert-bad-number": _convert("edges.csv", "--features", "no_number.csv"),
    "convert-wide-row": _convert("wide.csv"),
    "convert-unknown-id": _convert("edges.csv", "--features", "few.csv"),
    "convert-bad-weight": _convert("heavy.csv"),
    "convert-negative-weight": _convert("negative.csv"),
    "convert-nothing-left": _convert("loops.csv"),
    "convert-duplicate-labels": _convert("edges.csv", "--labels", "words.csv"),
    "convert-not-finite": _convert("edges.csv", "--features", "infinite.csv"),
    "convert-only-a-header": _convert("header.csv"),
    "convert-packed": _convert("packed.csv"),
}


def write_files(folder: Path) -> None:
    """Write the files that the cases need."""
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)


def run(case: Case, folder: Path) -> tuple[int, str]:
    """Run a case once; return its exit code and what it wrote to stderr."""
    # Arrow counts its threads by this: tests set it, users do not.
    env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-m", "fdgcl", *case.words],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


def repeat(case: Case, folder: Path, runs: int, jobs: int) -> Counter[tuple[int, str]]:
    """Run a case often; return how often it ended in which way."""
    with ThreadPoolExecutor(jobs) as pool:
        return Counter(pool.map(lambda _: run(case, folder), range(runs)))


def is_clean(case: Case, code: int, text: str) -> bool:
    """Whether a run ended as it must: with that code, and one sentence."""
    return code == case.code and text.startswith("error: ") and text.count("\n") == 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="of each case")
    parser.add_argument("--jobs", type=int, default=2, help="at the same time")
    parser.add_argument("--only", default=",".join(CASES), help="some of the cases")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeat the cases asked for and tell what came of each."""
    options = _options(arguments)
    wanted = options.only.split(",")
    unclean = total = 0
    for name in wanted:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            write_files(Path(folder))
            ends = repeat(case, Path(folder), options.runs, options.jobs)
        bad = {end: count for end, count in ends.items() if not is_clean(case, *end)}
        total, unclean = total + options.runs, unclean + sum(bad.values())
        print(
            f"{name:26s} {sum(bad.values()):4d} of {options.runs} unclean", flush=True
        )
        for (code, text), count in sorted(bad.items()):
            print(f"    {count} times exit code {code}: {text!r}", flush=True)
    print(f"{total} runs, {unclean} unclean")
    return int(unclean > 0)


if __name__ == "__main__":
    sys.exit(main())
