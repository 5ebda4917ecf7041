"""A quick choice of settings by a few labels, on validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._version import __version__
from fdgcl.workflows.feedback import OnNotice, ProgressArgument, feedback
from fdgcl.workflows.outputs import refuse_existing
from fdgcl.workflows.places import without_folders
from fdgcl.workflows.reading import Features, Reading, as_path, new_reading
from fdgcl.workflows.run_folders import RUNS
from fdgcl.workflows.source import (
    Source,
    find_source,
    need_labels,
    read,
    readings,
    refuse_files,
    summary,
)
from fdgcl.workflows.tune_settings import check_places, folder_name

if TYPE_CHECKING:
    from fdgcl.choosing.choice import Choice
    from fdgcl.graphs import Graph
    from fdgcl.graphs.files.options import TableOptions

QUICK_FILE = "quick.toml"


@dataclass(frozen=True, eq=False)
class ChosenSettings:
    """The settings that a quick choice took.

    Attributes:
        choice: What was tried, and what was taken and why.
        settings: All settings of a model.
        settings_file: The same, as TOML.
        source: Where the graph is.
        reading: How it was read.
        notices: What was read and decided.
        method: Name of the method that they are settings of.
    """

    choice: Choice
    settings: dict[str, Any]
    settings_file: Path
    source: Source = field(repr=False)
    reading: Reading = field(repr=False)
    notices: tuple[str, ...] = ()
    method: str = "fdgcl"

    def to_dict(self) -> dict[str, Any]:
        """Return what was found, ready for JSON."""
        return {
            "settings_file": str(self.settings_file),
            "settings": self.settings,
            **self.choice.to_dict(),
            "notices": list(self.notices),
        }


def choose(
    graph: str | Path | Graph,
    *,
    features: Features | None = None,
    labels: str | Path | None = None,
    tables: TableOptions | None = None,
    data_root: str | Path | None = None,
    fixed: Mapping[str, Any] | None = None,
    device: str = "auto",
    output: str | Path | None = None,
    overwrite: bool = False,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> ChosenSettings:
    """Try a portfolio of settings that share one diffusion, and take what validates.

    Test nodes are erased before. The defaults stand unless others are better by more
    than the standard error of the difference.

    Args:
        graph: A graph with labels, as `embed` takes it, and the four arguments after.
        features: As of `embed`.
        labels: As of `embed`.
        tables: As of `embed`.
        data_root: As of `embed`.
        fixed: Settings that all have in common.
        device: `auto`, `cpu` or `cuda`.
        output: The settings taken, as TOML; None for `runs/tune-NAME/quick.toml`.
        overwrite: Replace an output that is there.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: Graph, labels, settings or places do not fit together.
        NonFiniteLossError: Nothing could be scored.

    Example:
        >>> import tempfile
        >>> from fdgcl import block_model
        >>> from fdgcl.workflows import choose
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = choose(
        ...         block_model(60, signal=4.0, seed=0),
        ...         fixed={"dim": 16, "epochs": 1},
        ...         output=f"{folder}/best.toml",
        ...     )
        >>> found.settings["dim"], found.choice.taken.name
        (16, 'defaults')
    """
    source = find_source(graph)
    reading = new_reading(features, labels, tables=tables, data_root=data_root)
    reading.check()
    refuse_files(source, reading)
    need_labels(source, reading, "tune")
    folder = RUNS / folder_name(source.name, "fdgcl")
    target = as_path(output) or folder / QUICK_FILE
    check_places(target.parent, target)
    refuse_existing(target, overwrite=overwrite)

    from fdgcl.choosing.choose import choose_settings, problem_of
    from fdgcl.model import FDGCL
    from fdgcl.tuning import write_settings
    from fdgcl.workflows.labels import check_task, targets_of

    given = dict(fixed or {})
    if reading.made:
        given["structural"] = reading.made
    if device != "auto":
        given["device"] = device
    _ = FDGCL(**given).check().torch_device  # refused before anything is read
    with feedback(progress, on_notice) as told:
        with told.bars.waiting("read"):
            data = read(source, reading)
            told.notice(summary(data), *readings(data))
            targets = targets_of(data)
            if targets is not None:
                check_task(reading.tables.task, targets, data.name)
            problem, lines = problem_of(data)
        told.notice(*lines)
        choice = choose_settings(problem, given, progress=told.bars)
        told.notice(*choice.notices)
        settings = FDGCL(**choice.settings).get_params()
        target.parent.mkdir(parents=True, exist_ok=True)
        write_settings(target, settings, _header(choice, data))
        return ChosenSettings(
            choice, settings, target, source, reading, tuple(told.notices)
        )


def _header(choice: Choice, graph: Graph) -> list[str]:
    """Lines that say where the settings come from."""
    best, source = choice.taken, without_folders(graph.source)
    tried = len(choice.tried)
    return [
        f"Settings chosen by fdgcl tune --quick, {datetime.now():%Y-%m-%d}.",
        f"Data: {graph.name} ({graph.num_nodes:,} nodes, {source}).",
        f"Of {tried} tried, {choice.why}.",
        f"Validation accuracy {100 * best.mean:.2f} ± {100 * best.error:.2f} % (mean "
        f"and standard error) on {choice.splits}; test nodes were not looked at.",
        f"fdgcl {__version__}, torch {version('torch')}.",
    ]
