"""The options that commands share, written once: reading, output and model settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from fdgcl._checks import InputError

DATA, DIFFUSION, TRAINING, RUN, OUTPUT = (
    "Data",
    "Diffusion",
    "Training",
    "Run",
    "Output",
)

DEBUG = "fdgcl.debug"  # keys of the parser's `meta`, which all commands share
GIVEN = "fdgcl.given"


def _remember_debug(context: typer.Context, wanted: bool) -> bool:
    if wanted:
        context.meta[DEBUG] = True
    return wanted


def option(*names: str, text: str, panel: str = OUTPUT, **more: Any) -> Any:
    """Return an option, shown in a panel of the help."""
    return typer.Option(*names, help=text, rich_help_panel=panel, **more)


GraphName = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="An edge list (CSV or Parquet, also gzipped), a compact .npz file, "
        "or the name of a dataset (see `fdgcl data list`).",
        show_default=False,
    ),
]
Features = Annotated[
    str | None,
    option(
        "--features",
        panel=DATA,
        metavar="FILE|degree|spectral|random",
        text="Node features: a Parquet, CSV, npy or npz file, or features made from "
        "the edges alone.",
    ),
]
Labels = Annotated[
    Path | None,
    option("--labels", panel=DATA, text="A file with an id and a label per node."),
]
SourceColumn = Annotated[
    str | None, option("--source-column", panel=DATA, text="Where an edge starts.")
]
TargetColumn = Annotated[
    str | None, option("--target-column", panel=DATA, text="Where an edge ends.")
]
WeightColumn = Annotated[
    str | None, option("--weight-column", panel=DATA, text="Weight of an edge.")
]
IdColumn = Annotated[
    str | None,
    option("--id-column", panel=DATA, text="Node id in the feature and label files."),
]
LabelColumn = Annotated[
    str | None,
    option("--label-column", panel=DATA, text="Label in the label (or feature) file."),
]
DataRoot = Annotated[
    Path | None,
    option(
        "--data-root",
        panel=DATA,
        envvar="FDGCL_DATA",
        text="Folder that holds datasets in the compact format.",
    ),
]
Output = Annotated[
    Path | None,
    option("--output", "-o", text="Where the embedding goes, as Parquet."),
]
Quiet = Annotated[
    bool, option("--quiet", "-q", text="Say nothing but warnings and errors.")
]
Json = Annotated[
    bool, option("--json", text="Print one JSON object instead of text and tables.")
]
Debug = Annotated[
    bool,
    option("--debug", text="Show a traceback on errors.", callback=_remember_debug),
]


@dataclass(frozen=True)
class Setting:
    """One setting of the model as an option; `default` is only shown."""

    name: str
    kind: type
    panel: str
    text: str
    default: str
    metavar: str | None = None

    def parameter(self) -> inspect.Parameter:
        """Return it as a parameter that is None unless given."""
        flag = "--" + self.name.replace("_", "-")
        names = f"{flag}/--no-{flag[2:]}" if self.kind is bool else flag
        wanted = option(
            names,
            text=self.text,
            panel=self.panel,
            metavar=self.metavar,
            show_default=self.default,
        )
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[self.kind | None, wanted],
        )


SETTINGS = (
    Setting(
        "orders",
        str,
        DIFFUSION,
        "Fractional orders (alpha) of the two views, each in (0, 1]: a small one keeps "
        "local detail, a large one sums up globally.",
        "0.01,1",
        "A,B",
    ),
    Setting("time", float, DIFFUSION, "How long to diffuse (T).", "?"),
    Setting("step", float, DIFFUSION, "Step of the solver (h), at most the time.", "?"),
    Setting(
        "solver",
        str,
        DIFFUSION,
        "Scheme: predictor, corrector, l1, gl or exact.",
        "predictor",
    ),
    Setting("rate", float, DIFFUSION, "Factor in front of the Laplacian.", "?"),
    Setting(
        "skip",
        str,
        DIFFUSION,
        "When the initial features are added back: none, end, every-step, or a number "
        "of times.",
        "?",
        "WHEN",
    ),
    Setting(
        "direction",
        str,
        DIFFUSION,
        "Whom a node gathers from: symmetric (both ends), out (those it points to) or "
        "in (those that point to it).",
        "symmetric",
    ),
    Setting("self_loops", float, DIFFUSION, "Weight of each node's self-loop.", "1.0"),
    Setting(
        "normalization",
        str,
        DIFFUSION,
        "How edge weights are normalised: symmetric, row or column.",
        "symmetric",
    ),
    Setting(
        "memory",
        int,
        DIFFUSION,
        "Past steps the solver remembers (short memory).",
        "all",
    ),
    Setting("dim", int, TRAINING, "Length of an embedding (d).", "?"),
    Setting("activation", str, TRAINING, "Non-linearity after the linear map.", "relu"),
    Setting(
        "standardize",
        bool,
        TRAINING,
        "Bring every column to mean 0 and variance 1 before the activation.",
        "standardize",
    ),
    Setting(
        "loss", str, TRAINING, "What makes the views agree.", "regularized-cosmean"
    ),
    Setting("beta", float, TRAINING, "Weight of the first view in the embedding.", "?"),
    Setting("eta", float, TRAINING, "Weight of the loss's regulariser.", "?"),
    Setting("lr", float, TRAINING, "Learning rate.", "?"),
    Setting("weight_decay", float, TRAINING, "Weight decay.", "?"),
    Setting("epochs", int, TRAINING, "Passes over the nodes; 0 trains nothing.", "?"),
    Setting("batch_size", int, TRAINING, "Nodes per training step.", "all"),
    Setting(
        "strategy",
        str,
        TRAINING,
        "precompute (diffuse once), in-loop (diffuse in every epoch), or auto.",
        "auto",
    ),
    Setting("seed", int, RUN, "Seed of everything random.", "0"),
    Setting("device", str, RUN, "auto, cpu or cuda.", "auto"),
    Setting("dtype", str, RUN, "float32 or float64.", "float32"),
)


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes `**settings` one option per model setting."""
    own = inspect.signature(command, eval_str=True)
    kept = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    added = [setting.parameter() for setting in SETTINGS]

    @wraps(command)
    def wrapper(**arguments: Any) -> None:
        command(**arguments)

    wrapper.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in (*kept, *added)}
    return wrapper


def given_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were given, in the types the model takes."""
    given = {name: value for name, value in settings.items() if value is not None}
    if "orders" in given:
        given["orders"] = _orders(given["orders"])
    if str(given.get("skip", "")).lstrip("+-").isdigit():
        given["skip"] = int(given["skip"])
    return given


def _orders(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        message = (
            f'--orders must be numbers with commas between, as "0.01,1", got {text!r}'
        )
        raise InputError(message) from None
