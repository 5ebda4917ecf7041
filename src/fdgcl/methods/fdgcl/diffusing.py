"""Diffuse the features of a store, one slice of columns at a time.

A slice goes through all terms of the basis without looking at any other: a task reads
files, computes, and writes files. Its result does not depend on the process that runs
it, nor on how often it is run.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.diffusion.expansion import Expansion
from fdgcl.diffusion.polynomial import sum_terms
from fdgcl.graphs.diagnosis import FeatureFindings, examine_features
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.store.arrays import ArrayWriter, is_finished, row_ranges
from fdgcl.graphs.store.features import StoredFeatures, measure_scaling
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.asking_neighbours import neighbours_of_store
from fdgcl.methods.fdgcl.averages import ONE_PRODUCT
from fdgcl.methods.fdgcl.decisions import neighbours_tell
from fdgcl.methods.fdgcl.diffused import Diffusion, as_chosen, keeps_averages, wanted
from fdgcl.methods.fdgcl.feature_columns import needs_reduction, reduces_views
from fdgcl.methods.fdgcl.recipe import AVERAGE, Block, Recipe
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import (
    IO_ROWS,
    DiffusionPlan,
    plan_diffusion,
    products_of,
)
from fdgcl.operators.base import Coordinates
from fdgcl.operators.feature_correlation import (
    FeatureCorrelation,
    feature_correlation,
)
from fdgcl.operators.sparse import new_tensor
from fdgcl.operators.stored import StoredOperator

# The plan counts on one slice at a time in a process, whatever an executor does.
_ONE_AT_A_TIME = threading.Lock()


def check_settings(store: Store, settings: Settings) -> None:
    """Refuse what cannot be done out of core.

    Raises:
        InputError: The settings need the whole graph in memory, or another store.
    """
    manifest = store.manifest
    if not settings.is_fixed_linear:
        message = (
            f"dynamics {settings.dynamics!r} steps all nodes in every epoch, which a "
            "store cannot: choose a linear one with fixed weights, such as 'grand'"
        )
        raise InputError(message)
    if settings.strategy == "in-loop":
        message = "strategy 'in-loop' diffuses in every epoch, which a store cannot"
        raise InputError(message)
    if settings.direction not in (None, manifest.direction):
        message = (
            f"{store.folder} was imported with direction {manifest.direction!r}, not "
            f"{settings.direction!r}: import the edges again to change it"
        )
        raise InputError(message)


def begin(
    store: Store,
    settings: Settings,
    plan: DiffusionPlan,
    progress: Progress | None = None,
    columns: FeatureMap | None = None,
) -> Diffusion:
    """Look at the graph as a whole, and write down what all tasks follow.

    Args:
        store: The graph.
        settings: The model's.
        plan: The slices to make.
        progress: Called at the beginning and the end.
        columns: What is done to the features, where a trained model says so.

    Raises:
        InputError: The settings do not fit the store, or what was begun earlier does
            not fit the memory given now.
    """
    check_settings(store, settings)
    settings = as_chosen(store, settings, columns)
    diffusion = Diffusion.of(store, settings, columns)
    if diffusion.is_begun:
        _check_fits(diffusion, plan)
        return diffusion
    if progress is not None:
        progress("look", 0, 2)
    operator = StoredOperator(
        store,
        settings.self_loops,
        settings.normalization,
        plan.threads,
        dtype=settings.torch_dtype,
        products=products_of(settings),
    )
    dynamics = settings.new_dynamics(settings.hidden_columns)
    found = Expansion.of(dynamics, operator, settings.schedule, settings.orders)
    top = operator.lambda_max
    del operator
    if not np.isfinite(found.coefficients).all():
        message = (
            "the diffusion grows beyond all floating-point numbers at this time, step "
            "and rate: choose a smaller step, or solver 'exact'"
        )
        raise InputError(message)
    if progress is not None:
        progress("look", 1, 2)
    names, scaling = store.manifest.feature_names, settings.feature_scaling
    known = columns or FeatureMap(scaling)
    scaled = measure_scaling(store, scaling, diffusion.lengths_path, known.scale)
    findings = examine_features(ColumnMoments.of(scaled), names, scaling)
    nodes, given = scaled.shape
    if needs_reduction(settings, given, nodes):
        known = known.reducing(scaled, settings.reduce, settings.seed)
    of_views = reduces_views(settings, nodes)
    features = diffusion.reduce(scaled, known, of_views=of_views)
    correlation, informative = _correlated(
        store, scaled, features, findings, plan.threads
    )
    if found.needs_float64:
        plan = plan_diffusion(
            store,
            settings,
            memory=plan.memory,
            workers=plan.workers,
            threads=plan.threads,
            separate=plan.separate,
            wide=True,
        )
    recipe = Recipe(
        settings=wanted(store, settings),
        columns=plan.columns,
        coefficients=found.coefficients,
        basis=found.basis,
        wide=found.needs_float64,
        lambda_max=top,
        informative=informative,
        findings=findings,
        neighbours=neighbours_of_store(store, scaled),
        correlation=correlation,
        scale=scaled.scale,
        averages=keeps_averages(store, settings),
        held=None if known.reduction is None else known.reduction.held,
    )
    diffusion.begin(recipe)
    if progress is not None:
        progress("look", 2, 2)
    return diffusion


def _correlated(
    store: Store,
    scaled: StoredFeatures,
    features: StoredFeatures,
    findings: FeatureFindings,
    threads: int,
) -> tuple[FeatureCorrelation | None, bool]:
    """How features correlate along the edges, and whether neighbours tell of them.

    In memory that is asked of edges both ways. A directed store knows each of its edges
    from one end: it cannot say, and is taken as one whose neighbours do tell.

    Args:
        store: The graph.
        scaled: Its features before they are reduced, as findings are of those.
        features: What is diffused.
        findings: What the columns of the features tell.
        threads: To use.
    """
    operator = StoredOperator(store, 0.0, "symmetric", threads)
    if not operator.has_real_spectrum:
        return None, True
    found = feature_correlation(features, operator)

    def without(column: int) -> bool:
        return feature_correlation(scaled, operator, without=column).is_informative

    structural = store.manifest.structural
    return found, neighbours_tell(structural, [found], findings, without)


def diffuse_slice(
    store_folder: str, diffusion_folder: str, number: int, threads: int
) -> None:
    """Diffuse one slice of columns, unless that is done.

    Args:
        store_folder: The store.
        diffusion_folder: The folder with the recipe.
        number: Of the slice.
        threads: To use.
    """
    with _ONE_AT_A_TIME:
        store = Store.open(store_folder)
        diffusion = Diffusion(store, Path(diffusion_folder))
        if not diffusion.has(number):
            _diffuse(store, diffusion, number, threads)


def _check_fits(diffusion: Diffusion, plan: DiffusionPlan) -> None:
    recipe = diffusion.recipe
    width = max(b - a for a, b in zip(recipe.columns, recipe.columns[1:], strict=False))
    if diffusion.missing and width > plan.widest:
        message = (
            f"{diffusion.folder} was begun with slices of {width} columns, and the "
            f"memory given now holds {plan.widest}: give as much as then, or remove "
            "that folder"
        )
        raise InputError(message)


@torch.no_grad()
def _diffuse(store: Store, diffusion: Diffusion, number: int, threads: int) -> None:
    recipe, features = diffusion.recipe, diffusion.features
    kind = torch.float64 if recipe.settings["dtype"] == "float64" else torch.float32
    work = torch.float64 if recipe.wide else kind
    for array in (store.starts, store.neighbours, store.weights, features.lengths):
        if array is not None:
            array.verify()
    operator = StoredOperator(
        store,
        recipe.settings["self_loops"],
        recipe.settings["normalization"],
        threads,
        dtype=work,
    )
    orders = range(len(recipe.coefficients))
    expansion = Expansion(recipe.coefficients, recipe.basis)
    _apply(expansion, operator, features, diffusion, number, orders)
    if recipe.averages:
        # Of the features as they were read, once what diffused them is given back.
        operator = StoredOperator(store, 0.0, "row", threads, dtype=work)
        _apply(ONE_PRODUCT, operator, features, diffusion, number, (AVERAGE,))


def _apply(
    expansion: Expansion,
    operator: StoredOperator,
    features: StoredFeatures,
    diffusion: Diffusion,
    number: int,
    blocks: Sequence[Block],
) -> None:
    """Apply polynomials to a slice, and write each one's result, unless it is there."""
    paths = [diffusion.path(block, number) for block in blocks]
    if all(map(is_finished, paths)):
        return
    recipe, work, cpu = diffusion.recipe, operator.dtype, torch.device("cpu")
    columns, nodes = recipe.slice(number), operator.num_nodes
    width = columns.stop - columns.start
    space = operator.coordinates(width * expansion.products, cpu)
    shape = (-1, nodes, width)
    held = new_tensor(2, nodes * width, work, cpu).view(shape)
    sums = new_tensor(len(blocks), nodes * width, work, cpu).view(shape)
    _read_slice(features, columns, space, held[0])
    sum_terms(expansion, space, held, sums)
    del held
    for path, values in zip(paths, sums, strict=True):
        if not is_finished(path):
            _write(path, values, space, np.dtype(recipe.settings["dtype"]))


def _read_slice(
    features: StoredFeatures, columns: slice, space: Coordinates, into: Tensor
) -> None:
    """Fill an array with features, column by column of the blocks in files."""
    width = features.block_columns
    for number in range(columns.start // width, -(-columns.stop // width)):
        first = number * width
        last = min(first + width, features.shape[1])
        there = slice(max(columns.start, first), min(columns.stop, last))
        here = slice(there.start - columns.start, there.stop - columns.start)
        taken = slice(there.start - first, there.stop - first)
        for start, rows in features.column_block(number, IO_ROWS):
            space.enter(torch.from_numpy(rows[:, taken]), into[:, here], start)


def _write(
    path: Path, values: Tensor, space: Coordinates, dtype: np.dtype[np.floating]
) -> None:
    with ArrayWriter(path, dtype, values.shape[1]) as writer:
        for start, stop in row_ranges(len(values), IO_ROWS):
            rows = space.leave(values, start, stop)
            writer.append(rows.numpy().astype(dtype, copy=False))
