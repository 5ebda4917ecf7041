"""docs/scale.md says what the committed runs out of core say, and no more."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from as_markdown import to_markdown
from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.benchmark.outofcore import FORMAT
from fdgcl.graphs.store.arrays import write_array
from fdgcl.graphs.store.store import (
    Manifest,
    Store,
    neighbours_path,
    starts_path,
    write_manifest,
)
from fdgcl.methods.fdgcl.slice_plan import (
    LATER_BYTES,
    MARGIN,
    WORKER_BYTES,
    plan_diffusion,
)
from fdgcl.planning.cost import RATES, Problem
from fdgcl.presets import paper_defaults
from scale.calibration import GUESSES, STAGES, stage_seconds
from scale.forecast import (
    BLOCK_COLUMNS,
    Machines,
    fitting_columns,
    forecast,
    graph_bytes,
    limits,
)
from scale.page import (
    BOUND,
    MEMORY,
    PAPERS,
    out_of_core_page,
    read_records,
)

ROOT = Path(__file__).parents[2]
SMALL = Problem(
    nodes=10**5,
    edges=10**6,
    entries=2 * 10**6,
    features=64,
    dim=128,
    epochs=3,
    columns=64,
    products=11,
)
LARGE = replace(SMALL, nodes=10**7, edges=10**8, entries=2 * 10**8, columns=16)
HUGE = Problem(
    **PAPERS, entries=2 * PAPERS["edges"], dim=128, epochs=3, columns=1, products=11
)
ONE = Machines(1, MEMORY, BOUND, read=1e9, write=5e8)


def _record(problem: Problem) -> dict[str, Any]:
    seconds = {s: stage_seconds(problem, s, rates=GUESSES) for s in STAGES}
    stages = [{"stage": stage, "seconds": taken} for stage, taken in seconds.items()]
    total = {
        "seconds": sum(seconds.values()),
        "peak_bytes": 5_400_000_000,
        "peak_disk_bytes": 20_000_000_000,
        "memory": 6_000_000_000,
    }
    machine = {"hardware": "an abacus", "cores": 2, "commit": "abc"}
    machine["versions"] = {"torch": "2"}
    disk = {"read_bytes_per_second": 1e9, "write_bytes_per_second": 5e8}
    return {
        "format": FORMAT,
        "problem": asdict(problem),
        "stages": stages,
        "total": total,
        "disk": disk,
        "machine": machine,
    }


def test_the_section_is_what_the_tool_writes() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "render_scale.py"))
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    _, inside, _ = tool["split"](page)
    assert inside == tool["render"](ROOT / "results" / "scale"), (
        "run `python tools/render_scale.py --write`"
    )


def test_records_become_rows_and_rates(tmp_path: Path) -> None:
    for number, problem in enumerate((LARGE, SMALL)):
        text = json.dumps(_record(problem))
        (tmp_path / f"{number}.json").write_text(text)
    records = read_records(tmp_path)
    assert [record["problem"]["nodes"] for record in records] == [10**5, 10**7]
    text = to_markdown(out_of_core_page(records), level=2)
    assert "| 10,000,000 | 100,000,000 | 64 | 128 | 3 | 11 | 16 |" in text
    assert "| 5.4 GB of 6 GB | 20 GB |" in text
    # Made by the first guesses, which then explain all of it.
    for nodes, edges in (("100,000", "1,000,000"), ("10,000,000", "100,000,000")):
        assert re.search(rf"\| {nodes} \| {edges} (\| [+-]0 % ){{3}}\|", text)
    assert "111,059,956 nodes" in text
    assert "- hardware: an abacus, 2 cores" in text
    assert "| one machine | import |" in text
    assert "| 10 machines | all |" in text


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no records"):
        read_records(tmp_path)
    for text in ("{}", "[", json.dumps({**_record(SMALL), "format": "other"})):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(InputError, match=r"x\.json is no record of"):
            read_records(tmp_path)


def test_columns_that_fit_are_those_of_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = 5_000_000  # so many that what does not grow with them hardly counts
    write_array(starts_path(tmp_path), np.zeros(nodes + 1, np.int64))
    write_array(neighbours_path(tmp_path), np.zeros(0, np.int32))
    manifest = Manifest(
        name="dust",
        source="",
        nodes=nodes,
        entries=0,
        edges=0,
        direction="out",
        weighted=False,
        ids="numbers",
        features=128,
        block_columns=BLOCK_COLUMNS,
    )
    write_manifest(tmp_path, manifest)
    store = Store.open(tmp_path)
    monkeypatch.setattr(
        "fdgcl.methods.fdgcl.slice_plan.resident_bytes", lambda: WORKER_BYTES
    )
    settings, problem = (
        FDGCL(**paper_defaults()).check(),
        replace(SMALL, nodes=nodes, features=128),
    )
    column = 16 * nodes
    for fitting in (7, 9, 20, 45, 57, 90):
        held = WORKER_BYTES + LATER_BYTES + 8 * nodes + (fitting + 0.6) * column
        memory = int(held / (1 - MARGIN))
        plan = plan_diffusion(store, settings, memory=memory, threads=1)
        assert fitting_columns(problem, memory) == plan.widest


def test_papers_by_hand() -> None:
    # 0.96 * 20 GB less 0.5 GB for Python and 8 bytes a node, over 16 bytes a column.
    fitting = (0.96 * 20e9 - 0.5e9 - 8 * HUGE.nodes) / (16 * HUGE.nodes)
    assert fitting_columns(HUGE, BOUND) == 8 <= fitting < 16
    stages = {stage.stage: stage for stage in forecast(HUGE, ONE, RATES)}
    graph = 4 * HUGE.entries + 8 * HUGE.nodes
    assert graph_bytes(HUGE) == graph > ONE.cache
    passes = 30 + 16 * (11 + 1)  # 16 slices, and Lanczos' steps before
    read = passes * graph + 4 * HUGE.nodes * 128
    written = 2 * 4 * HUGE.nodes * 128
    diffuse = stages["diffuse"]
    assert diffuse.disk_seconds == pytest.approx(read / 1e9 + written / 5e8)
    assert diffuse.disk_bytes == written
    assert diffuse.peak_bytes < BOUND
    assert stages["epochs"].disk_seconds == pytest.approx(3 * written / 1e9)
    assert stages["embed"].disk_bytes == HUGE.nodes * (4 * 128 + 8)


def test_ten_machines_share_slices_and_rows_and_nothing_else() -> None:
    one = {stage.stage: stage for stage in forecast(HUGE, ONE, RATES)}
    ten = {s.stage: s for s in forecast(HUGE, replace(ONE, count=10), RATES)}
    for stage in ("import", "statistics"):
        assert ten[stage] == one[stage]
    for stage in ("epochs", "embed"):
        assert ten[stage].seconds == pytest.approx(one[stage].seconds / 10)
    # 16 slices on ten machines take two rounds; the spectrum is found by one.
    spectrum = RATES.diffuse_start + RATES.spectrum * HUGE.entries
    alone = one["diffuse"].computed_seconds - spectrum
    shared = ten["diffuse"].computed_seconds - spectrum
    assert shared == pytest.approx(alone / 8)
    assert ten["diffuse"].peak_bytes == one["diffuse"].peak_bytes


def test_a_graph_in_the_page_cache_is_read_from_disk_by_nobody() -> None:
    small = forecast(LARGE, ONE, RATES)[1]
    read, written = 4 * LARGE.nodes * 64, 2 * 4 * LARGE.nodes * 64
    assert small.disk_seconds == pytest.approx(read / 1e9 + written / 5e8)


def test_limits_come_in_order_and_are_where_they_are_said_to_be() -> None:
    found = limits(HUGE, ONE)
    assert [limit.nodes for limit in found] == sorted(limit.nodes for limit in found)
    by_words = {limit.what.split(":")[0]: limit.nodes for limit in found}

    def columns(nodes: float) -> int:
        return fitting_columns(replace(HUGE, nodes=int(nodes)), BOUND)

    one = by_words["not even one column fits a slice"]
    assert (columns(0.999 * one), columns(1.001 * one)) == (1, 0)
    few = by_words["fewer than 8 columns fit a slice"]
    assert (columns(0.999 * few), columns(1.001 * few)) == (8, 7)
    assert found[0].what.startswith("the graph no longer fits the page cache")
