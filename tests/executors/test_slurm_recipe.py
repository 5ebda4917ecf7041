"""The array job of docs/slurm.md, in a plain shell loop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fdgcl import FDGCL
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.diffusing import begin
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from helpers.stores import make_store
from helpers.tasks import contents

PAGE = Path(__file__).parents[2] / "docs" / "slurm.md"
# As sbatch would: a task for each number, here one after the other.
LOOP = """
set -e
bash prepare.sh
for k in $(seq 0 $((SLICES - 1))); do SLURM_ARRAY_TASK_ID=$k bash slice.sh; done
"""


def scripts() -> dict[str, str]:
    """The scripts by their names."""
    found = re.findall(
        r"^`(\w+\.sh)` [^\n]*\n\n```bash\n(.*?)^```",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    return dict(found)


@pytest.mark.slow
def test_the_array_job_in_a_loop(tmp_path: Path) -> None:
    settings = FDGCL().check()
    whole = make_store(tmp_path / "whole" / "G")
    store = make_store(tmp_path / "array" / "G")
    # On so small a graph one slice would do; the page's commands go on with these two.
    for folder in (whole, store):
        plan = plan_diffusion(folder, settings, memory=10**11, workers=2)
        assert begin(folder, settings, plan).recipe.num_slices == 2
    assert sorted(scripts()) == ["prepare.sh", "slice.sh", "train.sh"]
    for name, text in scripts().items():
        (tmp_path / "array" / name).write_text(text)
    subprocess.run(
        ["bash", "-c", LOOP],
        cwd=tmp_path / "array",
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SLICES": "2",
        },
        check=True,
        capture_output=True,
    )
    diffuse_store(whole, settings, memory=10**11)
    found = Diffusion.of(Store.open(store.folder), settings)
    assert found.missing == []
    assert contents(found) == contents(Diffusion.of(whole, settings))
