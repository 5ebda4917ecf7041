"""Searching the settings whose embedding a linear probe does best on, on validation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fdgcl._checks import (
    InputError,
    MissingExtraError,
    check_count,
    check_positive,
    choose,
)
from fdgcl.methods import METHODS
from fdgcl.workflows.feedback import Feedback, OnNotice, ProgressArgument, feedback
from fdgcl.workflows.models import Start
from fdgcl.workflows.outputs import Ledger
from fdgcl.workflows.reading import Features, Reading, as_path, new_reading
from fdgcl.workflows.run_folders import RUNS, check_writable
from fdgcl.workflows.source import (
    Source,
    find_source,
    need_labels,
    read,
    readings,
    refuse_files,
    summary,
)
from fdgcl.workflows.tuned import TunedSettings

if TYPE_CHECKING:
    from fdgcl.graphs import Graph
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.tuning import Problem
    from fdgcl.tuning.records import Record

    #: Called with each trial, whether it is the best yet, and the starting settings.
    OnTrial: TypeAlias = Callable[[Record, bool, Mapping[str, Any]], None]

DEFAULT_TRIALS, DEFAULT_SEEDS, DEFAULT_TOP, DEFAULT_SLOWEST = 50, 2, 5, 10.0
SETTINGS_FILE, REPORT = "best.toml", "report.html"


def tune(
    graph: str | Path | Graph,
    *,
    features: Features | None = None,
    labels: str | Path | None = None,
    tables: TableOptions | None = None,
    data_root: str | Path | None = None,
    trials: int | None = None,
    minutes: float | None = None,
    seeds: int = DEFAULT_SEEDS,
    top: int = DEFAULT_TOP,
    slowest: float = DEFAULT_SLOWEST,
    study: str | Path | None = None,
    method: str = "fdgcl",
    space: str | Path | None = None,
    preset: str | None = None,
    variant: str | None = None,
    settings_file: str | Path | None = None,
    fixed: Mapping[str, Any] | None = None,
    device: str = "auto",
    output: str | Path | None = None,
    overwrite: bool = False,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
    on_trial: OnTrial | None = None,
) -> TunedSettings:
    """Search the settings whose embedding a linear probe does best on, on validation.

    Test nodes are erased before the search begins. The same call goes on where an
    earlier one stopped, and several processes may make it at once.

    Args:
        graph: A graph with labels, as `embed` takes it, and the four arguments after.
        features: As of `embed`.
        labels: As of `embed`.
        tables: As of `embed`.
        data_root: As of `embed`.
        trials: Stop when the study has this many, earlier calls included; None for 50,
            unless there is a limit in minutes.
        minutes: Stop after so many, the last comparison included.
        seeds: How often each trial trains.
        top: How many of the best trials are compared again with fresh seeds.
        slowest: Stop a trial that takes more than this many times as long as the
            starting settings, or than a tenth of the minutes.
        study: Folder of the study; None for `runs/tune-NAME`, with `-METHOD` where that
            is not FD-GCL.
        method: Name of the method whose settings are searched.
        space: Where to search: a file or a shipped space, of FD-GCL `default` or
            `small`; None for the method's own.
        preset: Start from this dataset's settings; None takes the dataset's own.
        variant: Of the preset: `best` or `paper`.
        settings_file: Start from the settings in this file instead.
        fixed: Settings that are left out of the search.
        device: `auto`, `cpu` or `cuda`.
        output: The best settings, as TOML; None for `best.toml` in the study.
        overwrite: Replace an output that is there and is not this study's.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.
        on_trial: Called with each trial that was run, whether it is the best yet, and
            the starting settings.

    Raises:
        InputError: Graph, labels, settings or places do not fit together.
        MissingExtraError: Optuna is not installed.
        NoTrialError: Not one trial could be scored.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import tune
        >>> small = {"epochs": 1, "dim": 8}
        >>> found = tune(
        ...     "cora-bundled", trials=1, seeds=1, top=1, fixed=small, space="small",
        ...     study=tempfile.mkdtemp(),
        ... )
        >>> found.settings["dim"], found.settings_file.name
        (8, 'best.toml')
    """
    source = find_source(graph)
    reading = new_reading(features, labels, tables=tables, data_root=data_root)
    reading.check()
    refuse_files(source, reading)
    need_labels(source, reading, "tune")
    choose("`method`", method, METHODS)
    folder = as_path(study) or RUNS / folder_name(source.name, method)
    target = as_path(output) or folder / SETTINGS_FILE
    check_places(folder, target)
    ledger = Ledger(folder)
    ledger.check(target, overwrite=overwrite)
    for name, count in (("seeds", seeds), ("top", top), ("trials", trials)):
        if count is not None:
            check_count(f"`{name}`", count)
    check_positive("`slowest`", slowest)
    if minutes is not None:
        check_positive("`minutes`", minutes)

    from fdgcl import tuning

    tuning.require_optuna()
    whole, given = tuning.load_space(space, method), dict(fixed or {})
    if trials is None and minutes is None:
        trials = DEFAULT_TRIALS
    with feedback(progress, on_notice) as told:
        first = Start(preset, variant, as_path(settings_file), method)
        place = {} if device == "auto" else {"device": device}
        model = first.model(source, {**given, **place}, reading.made, told)
        start = model.get_params()
        with told.bars.waiting("read"):
            problem = _problem(source, reading, told)
        found = tuning.tune(
            problem,
            start,
            folder,
            space=whole.narrowed(
                frozenset(given), directed=not problem.graph.is_symmetric
            ),
            budget=tuning.Budget(
                trials, minutes, top=top, fresh=max(3, seeds), slowest=slowest
            ),
            seeds=seeds,
            device=device,
            progress=told.bars,
            on_trial=on_trial and partial(_call, on_trial, start),
        )
    outcome = TunedSettings(found, problem, folder, target, source, reading)
    return _written(outcome, ledger, told)


def _call(
    on_trial: OnTrial, start: Mapping[str, Any], record: Record, is_best: bool
) -> None:
    on_trial(record, is_best, start)


def _written(outcome: TunedSettings, ledger: Ledger, told: Feedback) -> TunedSettings:
    """Write the best settings and, where Plotly is, the report."""
    from fdgcl.tuning import write_settings

    write_settings(
        outcome.settings_file, outcome.settings, outcome.header(), outcome.method
    )
    ledger.note([outcome.settings_file])
    page = outcome.study / REPORT
    try:
        from fdgcl.report.html import write_page
        from fdgcl.workflows.tune_page import tune_page

        write_page(tune_page(outcome), page)
    except MissingExtraError as error:
        told.notice(f"no report was written: {error}")
    report = page if page.is_file() else None
    return replace(outcome, report=report, notices=tuple(told.notices))


def _problem(source: Source, reading: Reading, told: Feedback) -> Problem:
    """Read the graph, and keep only what tuning may see of it."""
    from fdgcl.tuning import Problem
    from fdgcl.workflows.scores import with_splits

    graph = read(source, reading)
    told.notice(summary(graph), *readings(graph))
    if graph.targets is not None:
        graph.targets.need_classes(graph.name)
    if graph.y is None:
        message = f"tune needs labels, and {graph.name} ({graph.source}) has none"
        raise InputError(message)
    graph, lines = with_splits(graph, reading.tables.task)
    told.notice(*lines)
    return Problem.of(graph)


def check_places(folder: Path, target: Path) -> None:
    """Refuse places that cannot be written to, or whose name says something else.

    Args:
        folder: Of the study.
        target: The settings file.

    Raises:
        InputError: They are not what they must be, or are not writable.
    """
    if target.suffix != ".toml" or target.is_dir():
        message = f"the output is a TOML file and its name must end so, got {target}"
        raise InputError(message)
    if folder.exists() and not folder.is_dir():
        message = f"`study` must be a folder, {folder} is a file"
        raise InputError(message)
    check_writable(folder)
    check_writable(target.parent)


def folder_name(graph: str, method: str) -> str:
    """What the folder of a graph's study is called by default.

    Args:
        graph: Name of the graph.
        method: Name of the method.

    Example:
        >>> folder_name("my graph", "fdgcl"), folder_name("texas", "bgrl")
        ('tune-my-graph', 'tune-texas-bgrl')
    """
    plain = re.sub(r"[^\w.-]+", "-", graph).strip("-.") or "graph"
    return f"tune-{plain}" if method == "fdgcl" else f"tune-{plain}-{method}"
