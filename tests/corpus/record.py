"""Write down how each case is read: run from the folder tests, then look at the diff.

python -m corpus.record
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from .collection import CASES, RECORD, run


def main() -> None:
    """Run all cases that succeed; those that do not are named and left out."""
    os.environ.pop("FDGCL_DATA", None)
    found = {}
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                result = run(case, Path(folder))
            except AssertionError as error:
                print(f"FAILED {case.name}: {str(error)[:300]}")
                continue
        if result is not None:
            found[case.name] = result
    os.chdir(RECORD.parent)
    lines = (
        f"{json.dumps(key)}: {json.dumps(found[key], ensure_ascii=False)}"
        for key in found
    )
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(CASES)} cases, {len(found)} readings")


if __name__ == "__main__":
    main()
