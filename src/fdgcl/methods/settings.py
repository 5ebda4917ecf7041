"""Settings, each described once: default, meaning, and how a command line takes it.

A method's settings are a frozen dataclass whose fields are made by `setting`. From it
come the signature and the docstring of the estimator, the options of the command line
with their help, the checks of settings files, and the page of the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, Self

import torch

from fdgcl._checks import (
    MOST_EPOCHS,
    InputError,
    check_count,
    check_nonnegative,
    check_positive,
    check_seed,
    choose,
    unknown_setting,
)

Panel = Literal["Diffusion", "Training", "Run"]
DTYPES = {"float32": torch.float32, "float64": torch.float64}
DEVICES = ("auto", "cpu", "cuda")
_ABOUT = "fdgcl"


@dataclass(frozen=True)
class About:
    """What is known of a setting beside its name, type and default.

    Attributes:
        text: What it means, in a sentence or two, for the docstring and the help.
        panel: Under which heading the help shows it.
        kind: What the command line reads: `str`, `int`, `float` or `bool`; None where
            it has no option of that name.
        metavar: What stands for its value in the help, unless the kind says it.
        shown: The default in words, where the value alone would not tell.
    """

    text: str
    panel: Panel = "Training"
    kind: type | None = str
    metavar: str | None = None
    shown: str | None = None


def setting(
    default: Any,
    text: str,
    *,
    panel: Panel = "Training",
    kind: type | None = str,
    metavar: str | None = None,
    shown: str | None = None,
) -> Any:
    """Describe a setting: the field of a dataclass of settings.

    Args:
        default: Its default, which nothing changes.
        text: See `About`, as for all others.
        panel: Heading in the help.
        kind: What the command line reads.
        metavar: What stands for its value.
        shown: The default in words.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Settings(MethodSettings):
        ...     tau: float = setting(0.5, "Temperature.", kind=float)
        >>> Settings(tau=0.1).tau, about(fields(Settings)[-1]).text
        (0.1, 'Temperature.')
    """
    known = About(text, panel, kind, metavar, shown)
    return field(default=default, metadata={_ABOUT: known})


def about(one: Field[Any]) -> About:
    """What is known of a field that `setting` made."""
    known = one.metadata[_ABOUT]
    assert isinstance(known, About)
    return known


@dataclass(frozen=True, kw_only=True)
class MethodSettings:
    """What all methods have; each adds its own.

    A subclass is frozen and keyword-only too, and checks its own settings in
    `__post_init__`, which calls this one's.
    """

    direction: str | None = setting(
        None,
        "Whom a node gathers from: `symmetric` (both ends of an edge), `out` (those it "
        "points to) or `in` (those that point to it).",
        panel="Diffusion",
        shown="symmetric, with a notice where edges are directed",
    )
    feature_scaling: str = setting(
        "none",
        "What is done to the features first: `none`, `row` (rows of length 1), "
        "`tf-idf` (columns weighted by how rare they are, then `row`) or `columns` "
        "(each to mean 0 and variance 1; sparse ones keep their zeros).",
        panel="Diffusion",
    )
    structural: str = setting(
        "spectral",
        "Features made where there are none: `spectral` (for a dataset of graphs "
        "`degree` instead), `degree` or `random`.",
        panel="Diffusion",
        kind=None,
    )
    lr: float = setting(0.01, "Learning rate.", kind=float)
    weight_decay: float = setting(5e-4, "Weight decay.", kind=float)
    epochs: int = setting(
        20, "Passes over the nodes; 0 leaves the encoder untrained.", kind=int
    )
    readout: Sequence[str] = setting(
        ("mean",),
        "How a graph's row is made of its nodes' in a dataset of graphs: some of "
        "`mean`, `sum` and `max`, side by side.",
        metavar="A,B",
    )
    seed: int = setting(0, "Seed of everything random.", panel="Run", kind=int)
    device: str = setting(
        "auto", "Where to compute: `auto`, `cpu` or `cuda`.", panel="Run"
    )
    dtype: str = setting(
        "float32", "Type of all numbers: `float32` or `float64`.", panel="Run"
    )

    def __post_init__(self) -> None:
        check_positive("lr", self.lr)
        check_nonnegative("weight_decay", self.weight_decay)
        self._set("epochs", check_count("epochs", self.epochs, 0, MOST_EPOCHS))
        self._set("seed", check_seed("seed", self.seed))
        choose("dtype", self.dtype, DTYPES)
        kind = str(self.device).partition(":")[0]
        choose("device", kind, dict.fromkeys(DEVICES))

    def _set(self, name: str, value: Any) -> None:
        """Put a checked value in the place of the one given."""
        object.__setattr__(self, name, value)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype itself."""
        return DTYPES[self.dtype]

    @cached_property
    def torch_device(self) -> torch.device:
        """The device itself; `auto` is a CUDA device where there is one."""
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            message = f"device {self.device!r} asked for, and no CUDA device is here"
            raise InputError(message)
        return torch.device(self.device)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        values = asdict(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str) -> Self:
        """Read settings from a file's values; unknown or missing ones are named."""
        cls.check_names(values, where)
        missing = [one.name for one in fields(cls) if one.name not in values]
        if missing:
            message = f"{where}: settings are missing: {', '.join(missing)}"
            raise InputError(message)
        try:
            return cls(**values)
        except InputError as error:
            message = f"{where}: {error}"
            raise InputError(message) from None

    @classmethod
    def check_names(cls, values: Mapping[str, Any], where: str) -> None:
        """Refuse settings that do not exist, naming them."""
        known = [one.name for one in fields(cls)]
        for name in values:
            if name not in known:
                message = f"{where}: {unknown_setting(name, known)}"
                raise InputError(message)
