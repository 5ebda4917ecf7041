"""Every setting of the model as an option, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from fdgcl._checks import InputError
from fdgcl.cli.options import DIFFUSION, RUN, TRAINING, option


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
        more = {} if self.metavar is None else {"metavar": self.metavar}
        wanted = option(
            names,
            text=self.text,
            panel=self.panel,
            kind=self.kind,
            show_default=self.default,
            **more,
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
        "Fractional orders (alpha) of the views, two or any number, each in (0, 1]: a "
        "small one keeps local detail, a large one sums up globally.",
        "0.01,1",
        "A,B,...",
    ),
    Setting("time", float, DIFFUSION, "How long to diffuse (T).", "60"),
    Setting(
        "step", float, DIFFUSION, "Step of the solver (h), at most the time.", "20"
    ),
    Setting(
        "solver",
        str,
        DIFFUSION,
        "Scheme: predictor, corrector, l1, gl or exact.",
        "predictor",
    ),
    Setting(
        "rate", float, DIFFUSION, "Factor in front of the right-hand side.", "0.05"
    ),
    Setting(
        "dynamics",
        str,
        DIFFUSION,
        "The equation's right-hand side: grand, grand-attention, grand-nonlinear, "
        "graphcon, cde or gread.",
        "grand",
    ),
    Setting(
        "dynamics_options",
        str,
        DIFFUSION,
        "The dynamics' own options, as in reaction=fisher,nu=0.5.",
        "its defaults",
        "A=X,B=Y",
    ),
    Setting(
        "skip",
        str,
        DIFFUSION,
        "When the initial features are added back: none, end, every-step, or a number "
        "of times.",
        "none",
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
    Setting(
        "edge_types",
        str,
        DIFFUSION,
        "Edges of several types: separate (features are diffused along each type by "
        "itself, side by side) or merge (as if there were one).",
        "separate",
    ),
    Setting("self_loops", float, DIFFUSION, "Weight of each node's self-loop.", "1"),
    Setting(
        "normalization",
        str,
        DIFFUSION,
        "How edge weights are normalised: symmetric, row or column.",
        "symmetric",
    ),
    Setting(
        "window",
        int,
        DIFFUSION,
        "Newest history entries that a step of the solver sums over.",
        "all",
    ),
    Setting(
        "gradient",
        str,
        DIFFUSION,
        "Through the steps, where there are any: adjoint (keeps states alone), "
        "checkpoint (fewer of them) or autograd (all that is computed).",
        "adjoint",
    ),
    Setting(
        "feature_scaling",
        str,
        DIFFUSION,
        "What is done to the features first: none, row (rows of length 1), tf-idf, or "
        "columns (each to mean 0, variance 1).",
        "none",
    ),
    Setting("dim", int, TRAINING, "Columns of each view (d).", "512"),
    Setting(
        "init_scale",
        float,
        TRAINING,
        "Factor on the initial weights: how far training can move from them.",
        "10",
    ),
    Setting(
        "activation", str, TRAINING, "relu, elu, gelu, tanh or linear (none).", "linear"
    ),
    Setting(
        "standardize",
        bool,
        TRAINING,
        "Bring every column to mean 0 and variance 1 before the activation.",
        "standardize",
    ),
    Setting(
        "loss",
        str,
        TRAINING,
        "What makes the views agree: regularized-cosmean, cosmean, euclidean, "
        "barlow-twins, vicreg, or package.module:Class of your own.",
        "regularized-cosmean",
    ),
    Setting(
        "loss_options",
        str,
        TRAINING,
        "Options of the loss, as in variance=10,covariance=0.5.",
        "the loss's own",
        "A=X,...",
    ),
    Setting(
        "pairs",
        str,
        TRAINING,
        "Which views the loss compares: all pairs, or consecutive ones.",
        "all",
    ),
    Setting(
        "beta",
        str,
        TRAINING,
        "Weight of the first view in the embedding, or weights of all views.",
        "decided by the graph",
        "B,...",
    ),
    Setting(
        "combine",
        str,
        TRAINING,
        "How the views become the embedding: sum (weighted by beta) or concat.",
        "sum",
    ),
    Setting(
        "keep",
        str,
        TRAINING,
        "What to keep beside the views, untouched by training: some of features, local "
        "(diffused by the first order) and global (by the second).",
        "nothing",
        "A,B",
    ),
    Setting(
        "keep_weight",
        float,
        TRAINING,
        "Weight of what is kept; 1 is as much as the views have.",
        "1",
    ),
    Setting("eta", float, TRAINING, "Weight of the loss's regulariser.", "0.1"),
    Setting("lr", float, TRAINING, "Learning rate.", "0.01"),
    Setting("weight_decay", float, TRAINING, "Weight decay.", "0.0005"),
    Setting("epochs", int, TRAINING, "Passes over the nodes; 0 trains nothing.", "20"),
    Setting(
        "batch_size",
        int,
        TRAINING,
        "Nodes per training step.",
        "all, on large graphs some",
    ),
    Setting(
        "strategy",
        str,
        TRAINING,
        "precompute (diffuse once), in-loop (diffuse in every epoch), or auto.",
        "auto",
    ),
    Setting(
        "readout",
        str,
        TRAINING,
        "How a graph's row is made of its nodes': some of mean, sum and max.",
        "mean",
        "A,B",
    ),
    Setting("seed", int, RUN, "Seed of everything random.", "0"),
    Setting("device", str, RUN, "Where to compute: auto, cpu or cuda.", "auto"),
    Setting("dtype", str, RUN, "Type of all numbers: float32 or float64.", "float32"),
    Setting(
        "precision",
        str,
        RUN,
        "Of dense products on CUDA: float32, tf32 or float16 (faster, 3 digits).",
        "float32",
    ),
    Setting("fast", bool, RUN, "Fused training steps, the same but quicker.", "fast"),
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


def chosen_settings(file: Path | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a file, if there is one, but for those that were given."""
    from fdgcl.presets import read_settings

    first = {} if file is None else read_settings(file)
    return {**first, **given_settings(settings)}


def given_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were given, in the types the model takes."""
    given = {name: value for name, value in settings.items() if value is not None}
    if "orders" in given:
        given["orders"] = _numbers("--orders", given["orders"])
    if "beta" in given:
        weights = _numbers("--beta", given["beta"])
        given["beta"] = weights[0] if len(weights) == 1 else weights
    for name in ("keep", "readout"):
        if name in given:
            given[name] = tuple(part for part in given[name].split(",") if part)
    for name in ("dynamics_options", "loss_options"):
        if name in given:
            given[name] = _pairs(f"--{name.replace('_', '-')}", given[name])
    if str(given.get("skip", "")).lstrip("+-").isdigit():
        given["skip"] = int(given["skip"])
    return given


def _pairs(option: str, text: str) -> dict[str, Any]:
    """Options as in `reaction=fisher,nu=0.5`; numbers and true or false are such."""
    found: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            message = f"{option} must be as in NAME=VALUE,NAME=VALUE, got {text!r}"
            raise InputError(message)
        if name.strip() in found:
            message = f"{option} names {name.strip()!r} twice"
            raise InputError(message)
        found[name.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        message = f'{option} must be numbers as in "0.5,1", got {text!r}'
        raise InputError(message) from None
