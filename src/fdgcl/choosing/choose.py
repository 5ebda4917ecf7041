"""A quick choice with a few labels: a portfolio of settings, scored on validation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.choosing.choice import Choice, Tried, decide
from fdgcl.choosing.portfolio import DEFAULTS, Candidate, portfolio
from fdgcl.choosing.problem import Problem
from fdgcl.choosing.shared_training import Planned, SharedTraining
from fdgcl.evaluation import validation_scores
from fdgcl.evaluation.tasks import draw_splits
from fdgcl.graphs import Graph, Targets
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.preparation import check_is_graph
from fdgcl.methods.resources import Resources
from fdgcl.training import NonFiniteLossError


def problem_of(graph: Graph, labels: Any = None) -> tuple[Problem, tuple[str, ...]]:
    """What a choice may see of a graph, and what to tell of it.

    Args:
        graph: In memory. Where it has no splits, they are drawn.
        labels: Class codes, -1 for none, or `Targets`, in place of the graph's own.

    Raises:
        InputError: There are no labels, they are no classes, or too few of them.

    Example:
        >>> from fdgcl import block_model
        >>> problem, told = problem_of(block_model(100, num_splits=0))
        >>> problem.num_splits, len(told)
        (10, 1)
    """
    check_is_graph(graph)
    targets = _targets(graph, labels)
    targets.need_classes(graph.name)
    targets.refuse_trivial(graph.name)
    told: tuple[str, ...] = ()
    splits = graph.splits
    if splits is None:
        splits = draw_splits(targets)
        told = (
            f"{graph.name} has no splits: ten were drawn from its "
            f"{targets.num_labelled:,} labelled nodes, 10 % to train and 10 % to "
            "choose by",
        )
    codes, names = targets.codes, targets.names
    labelled = replace(graph, y=codes, class_names=names, targets=None, splits=splits)
    return Problem.of(labelled), told


def _targets(graph: Graph, labels: Any) -> Targets:
    if isinstance(labels, Targets):
        given = labels
    elif labels is not None:
        codes = np.asarray(labels)
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            message = (
                "labels must be one class code for each node, -1 for none, or Targets, "
                f"got {codes.dtype} of shape {codes.shape}"
            )
            raise InputError(message)
        given = _named(codes)
    elif graph.y is not None:
        given = _named(graph.y, graph.class_names)
    elif graph.targets is not None:
        given = graph.targets
    else:
        message = (
            f"choosing needs labels, and {graph.name} ({graph.source}) has none: give "
            "labels=, class codes with -1 for none"
        )
        raise InputError(message)
    if len(given) != graph.num_nodes:
        message = (
            f"labels must be one for each of {graph.num_nodes:,} nodes, got "
            f"{len(given):,}"
        )
        raise InputError(message)
    return given


def _named(codes: Any, names: Sequence[str] | None = None) -> Targets:
    count = int(codes.max(initial=-1)) + 1
    found = names or tuple(f"class {code}" for code in range(count))
    return Targets("classes", tuple(found), codes=codes)


def choose_settings(
    problem: Problem,
    given: Mapping[str, Any] | None = None,
    *,
    told: Sequence[str] = (),
    memory: str | int | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Try a portfolio of settings, and take the best that clearly beats the defaults.

    Args:
        problem: The graph, and the labels that may be seen.
        given: Settings that all have in common.
        told: What is to be told first.
        memory: Bound on what may be held, as of `FDGCL.fit`.
        progress: Called with (stage, done, total).

    Raises:
        InputError: Graph and settings do not fit together.
        NonFiniteLossError: Nothing at all could be scored.

    Example:
        >>> from fdgcl import block_model
        >>> problem, _ = problem_of(block_model(60, signal=4.0, seed=0))
        >>> found = choose_settings(problem, {"dim": 16, "epochs": 1})
        >>> found.taken.name, found.settings
        ('defaults', {'dim': 16, 'epochs': 1})
    """
    started = time.perf_counter()
    given = dict(given or {})
    settings = Settings(**given)
    shared = SharedTraining(problem.graph, settings, Resources.within(memory), progress)
    candidates = portfolio(len(settings.orders))
    planned, left_out = _plan(candidates, shared, given)
    known = {one.name: one for one in candidates}
    tried, dropped = [], []
    for done, (one, embedding) in enumerate(shared.embeddings(planned)):
        if progress is not None:
            progress("try", done, len(planned))
        if isinstance(embedding, str):
            dropped.append(f"{one.name!r} was dropped: {embedding}")
        else:
            scores = _scores(problem, embedding, shared)
            held = int(problem.val.sum(axis=1).mean())
            candidate = known[one.name]
            tried.append(
                Tried(
                    one.name,
                    candidate.purpose,
                    dict(candidate.changes),
                    scores,
                    held,
                )
            )
    if not tried:
        raise NonFiniteLossError("; ".join(dropped))
    order = {one.name: place for place, one in enumerate(candidates)}
    tried.sort(key=lambda one: (-one.mean, order[one.name]))
    default = next((one for one in tried if one.name == DEFAULTS), None)
    taken, why = decide(tried, default)
    count = problem.num_splits
    return Choice(
        tuple(tried),
        taken,
        why,
        {**given, **taken.changes},
        f"{count} split{'s'[: count > 1]} ({problem.splits})",
        (*told, *left_out, *dropped),
        time.perf_counter() - started,
    )


def _scores(
    problem: Problem, embedding: Any, shared: SharedTraining
) -> tuple[float, ...]:
    return tuple(
        score
        for group in problem.groups()
        for score in validation_scores(
            embedding,
            problem.labels[group],
            problem.train[group],
            problem.val[group],
            device=shared.device,
        )
    )


def _plan(
    candidates: Sequence[Candidate], shared: SharedTraining, given: Mapping[str, Any]
) -> tuple[list[Planned], list[str]]:
    """The candidates that make a difference here, and what to tell of the others.

    Raises:
        InputError: The settings given do not fit the graph.
    """
    planned: dict[Any, Planned] = {}
    fixed, same, unfit = [], [], []
    for one in candidates:
        clash = [name for name in one.changes if name in given]
        if clash:
            fixed.append(f"{one.name} ({', '.join(clash)})")
            continue
        try:
            found = shared.plan(one.name, Settings(**{**given, **one.changes}))
            twin = planned.setdefault(found.embedding, found)
        except InputError as error:
            if one.name == DEFAULTS:
                raise
            unfit.append(f"{one.name!r} is left out: {error}")
            continue
        if twin is not found:
            same.append(f"{one.name} (as {twin.name})")
    notices = []
    if fixed:
        notices.append(f"left out, as it changes what was given: {'; '.join(fixed)}")
    if same:
        notices.append(
            f"left out, as it is the same as another on this graph: {'; '.join(same)}"
        )
    return [*planned.values()], [*notices, *unfit]
