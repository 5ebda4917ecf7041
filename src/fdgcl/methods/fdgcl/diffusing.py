"""Diffuse the features of a store, one slice of columns at a time.

A slice goes through all terms of the basis without looking at any other: a task reads
files, computes, and writes files. Whoever runs it, as often as he likes, gets the same.
"""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.diffusion.expansion import Expansion
from fdgcl.graphs.diagnosis import FeatureFindings, examine_features
from fdgcl.graphs.store.arrays import ArrayWriter, is_finished, row_ranges
from fdgcl.graphs.store.features import StoredFeatures, measure_scaling
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import Diffusion, Recipe, wanted
from fdgcl.methods.fdgcl.preparation import UNINFORMATIVE_BETA
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.slice_plan import (
    IO_ROWS,
    DiffusionPlan,
    plan_diffusion,
    products_of,
)
from fdgcl.operators.sparse import new_tensor
from fdgcl.operators.stored import (
    LANCZOS_STEPS,
    OnBlock,
    StoredOperator,
)
from fdgcl.operators.stored_correlation import stored_correlation

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
) -> Diffusion:
    """Look at the graph as a whole, and write down what all tasks follow.

    Args:
        store: The graph.
        settings: The model's.
        plan: The slices to make.
        progress: Called at the beginning and the end.

    Raises:
        InputError: The settings do not fit the store, or what was begun earlier does
            not fit the memory given now.
    """
    check_settings(store, settings)
    diffusion = Diffusion.of(store, settings)
    if diffusion.is_begun:
        _check_fits(diffusion, plan)
        return diffusion
    if progress is not None:
        progress("look", 0, 2)
    operator = _operator(store, settings, plan.threads)
    dynamics = settings.new_dynamics(settings.dim)
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
    features = measure_scaling(store, settings.feature_scaling, diffusion.lengths_path)
    names, scaling = store.manifest.feature_names, settings.feature_scaling
    findings = examine_features(features.moments(), names, scaling)
    informative = store.manifest.structural is not None or _is_informative(
        features, findings, plan.threads
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
        settings=wanted(settings),
        columns=plan.columns,
        coefficients=found.coefficients,
        basis=found.basis,
        wide=found.needs_float64,
        lambda_max=top,
        beta=1 / len(settings.orders) if informative else UNINFORMATIVE_BETA,
        scale=features.scale,
        findings=findings,
    )
    diffusion.begin(recipe)
    if progress is not None:
        progress("look", 2, 2)
    return diffusion


def _is_informative(
    features: StoredFeatures, findings: FeatureFindings, threads: int
) -> bool:
    """Whether neighbours tell of each other, as far as a store can say."""
    found = stored_correlation(features, threads)
    if found is None or found.is_informative:
        return True
    alone = findings.outweighing
    if alone is None:
        return False
    others = stored_correlation(features, threads, without=alone)
    return others is None or others.is_informative


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


def _operator(
    store: Store,
    settings: Settings,
    threads: int,
) -> StoredOperator:
    return StoredOperator(
        store,
        settings.self_loops,
        settings.normalization,
        threads,
        dtype=settings.torch_dtype,
        steps=max(LANCZOS_STEPS, products_of(settings) + 1),
    )


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
    recipe = diffusion.recipe
    kind = torch.float64 if recipe.settings["dtype"] == "float64" else torch.float32
    operator = StoredOperator(
        store,
        recipe.settings["self_loops"],
        recipe.settings["normalization"],
        threads,
        dtype=torch.float64 if recipe.wide else kind,
    )
    features = diffusion.features
    for array in (store.starts, store.neighbours, store.weights, features.lengths):
        if array is not None:
            array.verify()
    right, scale = operator.right, operator.scale
    operator.release()
    columns = recipe.slice(number)
    work, nodes = operator.dtype, store.manifest.nodes
    size = nodes * (columns.stop - columns.start)
    orders = len(recipe.coefficients)
    shape = (-1, nodes, columns.stop - columns.start)
    held = new_tensor(2, size, work, torch.device("cpu")).view(shape)
    sums = new_tensor(orders, size, work, torch.device("cpu")).view(shape)
    _read_slice(features, columns, held[0], right)
    _run(operator, scale, recipe, held, sums)
    del held
    for order, values in enumerate(sums):
        path = diffusion.path(order, number)
        if not is_finished(path):
            _write(path, values, right, np.dtype(recipe.settings["dtype"]))


def _read_slice(
    features: StoredFeatures, columns: slice, into: Tensor, right: Tensor
) -> None:
    """Fill an array with features times r, column by column of the blocks in files."""
    manifest = features.store.manifest
    width = manifest.block_columns
    for number in range(columns.start // width, -(-columns.stop // width)):
        first = number * width
        last = min(first + width, manifest.features)
        there = slice(max(columns.start, first), min(columns.stop, last))
        here = slice(there.start - columns.start, there.stop - columns.start)
        taken = slice(there.start - first, there.stop - first)
        for start, rows in features.column_block(number, IO_ROWS):
            part = torch.from_numpy(rows[:, taken]).to(into.dtype)
            factors = right[start : start + len(rows), None]
            torch.mul(part, factors, out=into[start : start + len(rows), here])


def _run(
    operator: StoredOperator, scale: Tensor, recipe: Recipe, held: Tensor, sums: Tensor
) -> None:
    """Make term after term from the one in `held[0]`, and sum them for every order."""
    weights = recipe.coefficients
    if weights.shape[1] == 1:
        for value, row in zip(sums, weights, strict=True):
            torch.mul(held[0], float(row[0]), out=value)
    for k in range(weights.shape[1] - 1):
        # The older term gives its memory to the newer, block by block.
        current, other = held[k % 2], held[(k + 1) % 2]
        term = _next_term(operator.self_loops, scale, recipe, k, current, other, sums)
        operator.each_block(current, term)


def _next_term(
    loops: float,
    scale: Tensor,
    recipe: Recipe,
    k: int,
    current: Tensor,
    other: Tensor,
    sums: Tensor,
) -> OnBlock:
    """What is left to do with a block once its neighbours are summed."""
    basis, weights = recipe.basis, recipe.coefficients
    alpha, shift = float(basis.product[k]), float(basis.current[k])
    kept = float(basis.previous[k])

    def on_block(start: int, stop: int, product: Tensor) -> None:
        rows = slice(start, stop)
        old, new = current[rows], other[rows]
        product.add_(old, alpha=loops).mul_(scale[rows, None])
        if k == 0:
            torch.mul(old, shift, out=new)
        else:
            new.mul_(kept).add_(old, alpha=shift)
        new.add_(product, alpha=alpha)
        for value, row in zip(sums, weights, strict=True):
            if k == 0:
                torch.mul(old, float(row[0]), out=value[rows])
            value[rows].add_(new, alpha=float(row[k + 1]))

    return on_block


def _write(
    path: Path, values: Tensor, right: Tensor, dtype: np.dtype[np.floating]
) -> None:
    with ArrayWriter(path, dtype, values.shape[1]) as writer:
        for start, stop in row_ranges(len(values), IO_ROWS):
            rows = values[start:stop] / right[start:stop, None]
            writer.append(rows.numpy().astype(dtype, copy=False))
