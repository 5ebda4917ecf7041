"""`fdgcl tune`: search the settings that validate best."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fdgcl._checks import InputError, check_count, check_positive, nearest
from fdgcl._settings import from_text
from fdgcl.cli import console, options
from fdgcl.cli.failures import interruption
from fdgcl.cli.options import RUN, option
from fdgcl.cli.outputs import Ledger
from fdgcl.cli.run_folders import RUNS, check_writable
from fdgcl.cli.settings import known_settings
from fdgcl.cli.source import (
    Reading,
    Source,
    find_source,
    need_labels,
    read,
    readings,
    refuse_files,
    summary,
)
from fdgcl.cli.start import Start, build_model
from fdgcl.cli.suggestions import command, graph_words, option_words
from fdgcl.cli.tables import with_tables
from fdgcl.cli.talk import Talk
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl.tuning import Problem

DEFAULT_TRIALS = 50
SETTINGS_FILE, REPORT = "best.toml", "report.html"


@with_tables("edges", "features", "labels")
def tune(
    graph: options.GraphName,
    tables: TableOptions,
    features: options.Features = None,
    labels: options.Labels = None,
    data_root: options.DataRoot = None,
    trials: Annotated[
        int | None,
        option(
            "--trials",
            kind=int,
            panel=RUN,
            text="Stop when the study has this many trials, earlier calls included.",
            show_default=f"{DEFAULT_TRIALS}, unless --minutes is given",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        option(
            "--minutes",
            kind=float,
            panel=RUN,
            text="Stop after so many minutes, the last comparison included.",
            show_default="no limit",
        ),
    ] = None,
    seeds: Annotated[
        int,
        option("--seeds", kind=int, panel=RUN, text="How often each trial trains."),
    ] = 2,
    top: Annotated[
        int,
        option(
            "--top",
            kind=int,
            panel=RUN,
            text="How many of the best trials are compared again with fresh seeds.",
        ),
    ] = 5,
    slowest: Annotated[
        float,
        option(
            "--slowest",
            kind=float,
            panel=RUN,
            text="Stop a trial that takes more than this many times as long as the "
            "starting settings, or than a tenth of --minutes.",
        ),
    ] = 10.0,
    study: Annotated[
        Path | None,
        option(
            "--study",
            kind=Path,
            panel=RUN,
            text="Folder of the study; one that is there is continued.",
            show_default="runs/tune-GRAPH",
        ),
    ] = None,
    space: Annotated[
        str,
        option(
            "--space",
            panel=RUN,
            metavar="NAME|FILE.toml",
            text="Where to search: default, small, or a file of your own.",
        ),
    ] = "default",
    preset: Annotated[
        str | None,
        option(
            "--preset",
            panel=RUN,
            metavar="NAME",
            text="Start from this dataset's settings.",
            show_default="that of the dataset",
        ),
    ] = None,
    variant: Annotated[
        str | None,
        option(
            "--variant",
            panel=RUN,
            metavar="best|paper",
            text="Of the preset: our settings, or the paper's.",
            show_default="best",
        ),
    ] = None,
    settings_file: options.SettingsFile = None,
    fixed: Annotated[
        list[str] | None,
        option(
            "--set",
            panel=RUN,
            metavar="NAME=VALUE",
            text="Fix a setting and leave it out of the search; may be repeated.",
        ),
    ] = None,
    device: Annotated[
        str, option("--device", kind=str, panel=RUN, text="auto, cpu or cuda.")
    ] = "auto",
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            kind=Path,
            text="Where the best settings go, as TOML.",
            show_default=f"{SETTINGS_FILE} in the study",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Search the settings whose embedding a linear probe does best on, on validation.

    Test nodes are erased before the search begins. The same command goes on where an
    earlier one stopped, and may run several times at once.

    fdgcl tune texas --minutes 10 -o best.toml
    """
    talk = Talk(quiet=quiet, json=json)
    source = find_source(graph)
    reading = Reading(
        features=tuple(features or ()),
        labels=labels,
        tables=tables,
        data_root=data_root,
    )
    reading.check()
    refuse_files(source, reading)
    need_labels(source, reading, "tune")
    folder = study or RUNS / f"tune-{_plain(source.name)}"
    target = output or folder / SETTINGS_FILE
    _check_places(folder, target)
    ledger = Ledger(folder)
    ledger.check(target, overwrite=overwrite)
    for name, count in (("--seeds", seeds), ("--top", top)):
        check_count(name, count)
    check_positive("--slowest", slowest)
    if trials is not None:
        check_count("--trials", trials)
    if minutes is not None:
        check_positive("--minutes", minutes)

    from fdgcl import tuning
    from fdgcl.cli.tune_output import Outcome

    tuning.require_optuna()
    whole = tuning.load_space(space)
    given = parse_settings(fixed or ())
    first = Start(preset, variant, settings_file)
    place = {} if device == "auto" else {"device": device}
    model = build_model(source, first, {**given, **place}, reading, talk)
    start: dict[str, Any] = model.get_params()
    if trials is None and minutes is None:
        trials = DEFAULT_TRIALS
    with talk.bars() as bars:
        with bars.waiting("read"):
            problem = _problem(source, reading, talk)
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
            progress=bars,
            on_trial=lambda record, is_best: _tell(record, start, is_best, talk),
        )
    outcome = Outcome(found, problem, folder, target, _next(source, reading, target))
    outcome.write(talk)
    ledger.note([target])
    outcome.tell(talk)
    if found.interrupted:
        rest = "; the same command goes on where it stopped"
        raise interruption(rest)


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE pairs, values as the options of those names take them.

    Raises:
        InputError: A pair has no `=`, its name is no setting, or its value cannot be
            read.
    """
    known = {name: one for name, one in known_settings().items() if name != "device"}
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not equals or name not in known:
            hint = nearest(name, known) if equals else ""
            message = f"--set takes NAME=VALUE, NAME a setting, got {text!r}{hint}"
            raise InputError(message)
        found[name] = from_text(known[name], value, f"--set {name}")
    return found


def _problem(source: Source, reading: Reading, talk: Talk) -> Problem:
    """Read the graph, and keep only what tuning may see of it."""
    from fdgcl.cli.scores import with_splits
    from fdgcl.tuning import Problem

    graph = read(source, reading)
    talk.notice(summary(graph), *readings(graph))
    if graph.targets is not None:
        graph.targets.need_classes(graph.name)
    if graph.y is None:
        message = f"tune needs labels, and {graph.name} ({graph.source}) has none"
        raise InputError(message)
    graph, lines = with_splits(graph, reading.tables.task)
    talk.notice(*lines)
    return Problem.of(graph)


def _tell(record: Any, start: dict[str, Any], is_best: bool, talk: Talk) -> None:
    from fdgcl.cli.tune_output import changes

    if talk.quiet or talk.json:
        return
    score = "" if record.value is None else f" {100 * record.value:.2f} %,"
    line = f"trial {record.number}:{score} {record.seconds:.1f} s"
    if record.reason:
        line += f", {record.reason}"
    if is_best:
        line += f", the best so far: {changes(record, start)}"
    console.notice(line)


def _check_places(folder: Path, target: Path) -> None:
    if target.suffix != ".toml" or target.is_dir():
        message = f"the output is a TOML file and its name must end so, got {target}"
        raise InputError(message)
    if folder.exists() and not folder.is_dir():
        message = f"--study must be a folder, {folder} is a file"
        raise InputError(message)
    check_writable(folder)
    check_writable(target.parent)


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "graph"


def _next(source: Source, reading: Reading, target: Path) -> str:
    settings = option_words("--settings", target)
    return command("embed", *graph_words(source, reading), *settings, "--evaluate")
