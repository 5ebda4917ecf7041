"""Features diffused out of core against the same diffusion in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.store import row_blocks
from fdgcl.graphs.store.arrays import DamagedError
from fdgcl.graphs.store.row_blocks import RowBlocks
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import DiffusedFeatures, diffusing
from fdgcl.methods.fdgcl.diffused import DiffusedRows, Diffusion
from fdgcl.methods.fdgcl.diffusing import begin, diffuse_slice
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from fdgcl.operators.stored import StoredOperator
from helpers.papers_method import papers_method
from helpers.stores import in_memory, make_store
from tolerances import half_digits, unit_roundoff

LARGE = 10**11


def settings_of(**given: object) -> Settings:
    defaults = {"time": 6.0, "step": 1.0, "rate": 0.5, "orders": (0.3, 1.0)}
    return papers_method(**{**defaults, **given}).check()


def diffused(
    store: Store, settings: Settings, *, threads: int = 1, width: int | None = None
) -> list[np.ndarray]:
    plan = plan_diffusion(store, settings, memory=LARGE, threads=threads)
    if width is not None:
        bounds = (*range(0, store.manifest.features, width), store.manifest.features)
        plan = replace(plan, columns=bounds)
    diffusion = begin(store, settings, plan)
    for number in diffusion.missing:
        diffuse_slice(str(store.folder), str(diffusion.folder), number, threads)
    rows = DiffusedRows(diffusion)
    found = np.empty((2, rows.num_rows, rows.num_features), rows.dtype)
    for order, into in enumerate(found):
        rows.read(order, 0, rows.num_rows, into)
    return [*found]


def expected(store: Store, settings: Settings) -> list[np.ndarray]:
    graph = in_memory(store)
    direction = store.manifest.direction
    prepared = prepare(graph, replace(settings, direction=direction))
    source = prepared.source(settings.torch_device)
    assert isinstance(source, DiffusedFeatures)
    return [source.kept(name).numpy() for name in ("local", "global")]


def error(found: list[np.ndarray], wanted: list[np.ndarray]) -> float:
    pairs = zip(found, wanted, strict=True)
    return max(float(abs(a - b).max() / abs(b).max()) for a, b in pairs)


CASES = {
    "plain": {},
    "loops": {"self_loops": 0.0},
    "heavy-loops": {"self_loops": 2.5},
    "row": {"normalization": "row"},
    "column": {"normalization": "column"},
    "column-no-loops": {"normalization": "column", "self_loops": 0.0},
    "skips": {"skip": "every-step"},
    "corrector": {"solver": "corrector"},
    "exact": {"solver": "exact"},
    "window": {"window": 3},
    "graphcon": {"dynamics": "graphcon"},
    "scaled": {"feature_scaling": "row"},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_diffusion_out_of_core_is_that_in_memory(
    tmp_path: Path, case: str, directed: bool, weighted: bool
) -> None:
    store = make_store(tmp_path / "g", directed=directed, weighted=weighted)
    settings = settings_of(**CASES[case])
    if not settings.is_fixed_linear:
        pytest.skip("this dynamics is not fixed and linear")
    apart = error(diffused(store, settings), expected(store, settings))
    assert apart < half_digits(np.float32)


@pytest.mark.parametrize("directed", [False, True])
def test_in_float64_the_two_agree_to_many_more_digits(
    tmp_path: Path, directed: bool
) -> None:
    store = make_store(tmp_path / "g", directed=directed, weighted=True)
    settings = settings_of(dtype="float64")
    apart = error(diffused(store, settings), expected(store, settings))
    assert apart < half_digits(np.float64)


def test_sums_that_would_cancel_run_in_float64(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So far outside the stable steps that terms exceed what is left of them.
    settings = settings_of(time=40.0, step=5.0, orders=(0.9, 1.0), rate=1.0)
    store = make_store(tmp_path / "g", nodes=2000, edges=6000, directed=True)
    plan = plan_diffusion(store, settings, memory=LARGE)
    assert begin(store, settings, plan).recipe.wide
    apart = error(diffused(store, settings), expected(store, settings))
    # Both round what they found to float32, and nothing before it.
    assert apart < 2 * unit_roundoff(np.float32) + half_digits(np.float64)


def test_bits_do_not_depend_on_blocks_or_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of()
    found = []
    for number, (work, threads) in enumerate([(2**20, 1), (300, 1), (300, 3)]):
        monkeypatch.setattr(row_blocks, "BLOCK_WORK", work)
        store = make_store(tmp_path / str(number), nodes=3000, edges=20000)
        if work < 2**20:
            assert len(RowBlocks.of(store).bounds) > 50
        found.append(diffused(store, settings, threads=threads))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8])
def test_slices_may_be_cut_anywhere(tmp_path: Path, width: int) -> None:
    store = make_store(tmp_path / "g", block_columns=3)
    settings = settings_of()
    found = diffused(store, settings, width=width)
    assert error(found, expected(store, settings)) < half_digits(np.float32)


def test_no_step_at_all_leaves_the_features(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g")
    # A single product; its weight is tiny at a tiny time.
    settings = settings_of(time=1e-12, step=1e-12, orders=(1.0, 1.0))
    features = np.asarray(in_memory(store).features)
    apart = error(diffused(store, settings), [features, features])
    assert apart < half_digits(np.float32)


def test_hubs_get_blocks_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_blocks, "BLOCK_WORK", 100)
    monkeypatch.setattr(row_blocks, "SCAN_ROWS", 7)
    store = make_store(tmp_path / "g", nodes=50, edges=4000)
    blocks = RowBlocks.of(store)
    starts = np.load(store.folder / "graph" / "starts.npy")
    assert blocks.bounds[0] == 0
    assert blocks.bounds[-1] == 50
    assert (np.diff(blocks.bounds) > 0).all()
    assert blocks.largest == np.diff(starts[blocks.bounds]).max()
    settings = settings_of()
    apart = error(diffused(store, settings), expected(store, settings))
    assert apart < half_digits(np.float32)


@pytest.mark.parametrize("normalization", ["symmetric", "row", "column"])
@pytest.mark.parametrize("directed", [False, True])
def test_bound_on_the_spectrum_holds(
    tmp_path: Path, normalization: str, directed: bool
) -> None:
    store = make_store(tmp_path / "g", directed=directed, weighted=True)
    graph = in_memory(store)
    settings = settings_of(
        normalization=normalization, direction=store.manifest.direction
    )
    matrix = prepare(graph, settings).operator.matrix.matrix.toarray()
    eigenvalues = np.linalg.eigvals(np.eye(len(matrix)) - matrix)
    bound = StoredOperator(store, 1.0, normalization, 1).lambda_max
    assert eigenvalues.real.max() <= bound + half_digits(np.float32)
    if not directed:
        assert bound < eigenvalues.real.max() + 0.1


def test_a_second_recipe_does_not_replace_the_first(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g")
    settings = settings_of()
    plan = plan_diffusion(store, settings, memory=LARGE)
    diffusion = begin(store, settings, plan)
    first = diffusion.recipe.to_dict()
    diffusion.begin(replace(diffusion.recipe, columns=(0, 1, 8)))
    assert Diffusion.of(store, settings).recipe.to_dict() == first


def test_a_finished_slice_is_not_made_again(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g")
    settings = settings_of()
    diffused(store, settings, width=4)
    files = sorted(Diffusion.of(store, settings).folder.rglob("*.npy"))
    before = [file.stat().st_ino for file in files]
    files[2].with_suffix(".json").unlink()
    diffused(store, settings)
    after = [file.stat().st_ino for file in files]
    assert [a == b for a, b in zip(before, after, strict=True)] == [
        number != 2 for number in range(4)
    ]


@pytest.mark.parametrize(
    "name", ["graph/neighbours.npy", "graph/starts.npy", "features/001.npy"]
)
def test_an_altered_block_is_named_before_it_is_used(tmp_path: Path, name: str) -> None:
    store = make_store(tmp_path / "g")
    settings = settings_of()
    begin(store, settings, plan_diffusion(store, settings, memory=LARGE))
    path = store.folder / name
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    folder = Diffusion.of(store, settings).folder
    with pytest.raises(DamagedError, match=f"{name.split('/')[1]} is damaged: block 0"):
        diffuse_slice(str(store.folder), str(folder), 0, 1)
    assert not list(folder.rglob("*.npy"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dynamics": "gread"}, "linear one with fixed weights"),
        ({"strategy": "in-loop"}, "in-loop"),
        ({"rate": 1e9, "step": 10, "time": 1000}, "beyond all floating-point"),
        ({"direction": "out"}, "imported with direction 'symmetric'"),
    ],
)
def test_what_needs_the_graph_in_memory_is_refused(
    tmp_path: Path, given: dict[str, object], words: str
) -> None:
    store = make_store(tmp_path / "g")
    plan = plan_diffusion(store, settings_of(), memory=LARGE)
    with pytest.raises(InputError, match=words):
        begin(store, settings_of(**given), plan)


def test_less_memory_than_what_was_begun_with_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g")
    settings = settings_of()
    plan = plan_diffusion(store, settings, memory=LARGE)
    begin(store, settings, plan)
    smaller = replace(plan, columns=(0, 2, 4, 6, 8))
    with pytest.raises(InputError, match="slices of 8 columns"):
        diffusing.begin(store, settings, smaller)
