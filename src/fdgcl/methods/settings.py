"""The settings that all methods have; each method's own dataclass adds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, get_args

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
from fdgcl._settings import about, from_file, setting, settings_of

if TYPE_CHECKING:
    import torch

__all__ = ["DEVICES", "DTYPES", "MethodSettings", "about", "setting"]

DTYPES = ("float32", "float64")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, kw_only=True)
class MethodSettings:
    """What all methods have; each adds its own.

    A subclass is frozen and keyword-only too, and checks its own settings in
    `__post_init__`, which calls this one's. What checks need of torch or NumPy is
    imported there: the description must not load them.

    Example:
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Settings(MethodSettings):
        ...     tau: float = setting(0.5, "Temperature.")
        ...
        ...     def __post_init__(self) -> None:
        ...         super().__post_init__()
        ...         check_positive("tau", self.tau)
        >>> Settings(tau=0.1, lr=0.001).tau
        0.1
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
        "`tf-idf` (columns weighted by how rare they are, then `row`), `columns` "
        "(each to mean 0 and variance 1; sparse ones keep their zeros) or `auto` "
        "(`row` for bags of words, `none` for what was scaled already, else "
        "`columns`).",
        panel="Diffusion",
    )
    structural: str = setting(
        "spectral",
        "Features made where there are none: `spectral` (for a dataset of graphs "
        "`degree` instead), `degree` or `random`; on the command line, --features.",
        panel="Diffusion",
        option=False,
    )
    lr: float = setting(0.01, "Learning rate of Adam.")
    weight_decay: float = setting(5e-4, "Weight decay of Adam.")
    epochs: int = setting(20, "Passes over the nodes; 0 trains nothing.")
    readout: Sequence[str] = setting(
        ("mean",),
        "How a graph's row is made of its nodes' in a dataset of graphs: some of "
        "`mean`, `sum` and `max`, side by side.",
        metavar="A,B",
    )
    seed: int = setting(0, "Seed of everything random.", panel="Run")
    device: str = setting(
        "auto", "Where to compute: `auto`, `cpu` or `cuda`.", panel="Run"
    )
    dtype: str = setting(
        "float32", "Type of all numbers: `float32` or `float64`.", panel="Run"
    )

    def __post_init__(self) -> None:
        from fdgcl.graphs.directions import Direction
        from fdgcl.graphs.scaling import FEATURE_SCALINGS
        from fdgcl.graphs.structural import STRUCTURAL
        from fdgcl.methods.readout import check_readouts

        check_positive("lr", self.lr)
        check_nonnegative("weight_decay", self.weight_decay)
        self._set("epochs", check_count("epochs", self.epochs, 0, MOST_EPOCHS))
        self._set("seed", check_seed("seed", self.seed))
        self._set("readout", check_readouts(self.readout))
        directions = dict.fromkeys(get_args(Direction))
        choose("direction", self.direction or "symmetric", directions)
        scalings = dict.fromkeys(FEATURE_SCALINGS)
        choose("feature_scaling", self.feature_scaling, scalings)
        choose("structural features", self.structural, STRUCTURAL)
        choose("dtype", self.dtype, dict.fromkeys(DTYPES))
        kind = str(self.device).partition(":")[0]
        choose("device", kind, dict.fromkeys(DEVICES))

    def _set(self, name: str, value: Any) -> None:
        """Put a checked value in the place of the one given."""
        object.__setattr__(self, name, value)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype itself."""
        import torch

        found: torch.dtype = getattr(torch, self.dtype)
        return found

    @cached_property
    def torch_device(self) -> torch.device:
        """The device itself; `auto` is a CUDA device where there is one."""
        import torch

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
    def some_from_file(cls, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Read some settings from the values of a settings file, as yet unchecked.

        Raises:
            InputError: One of them does not exist, or is a text that cannot be read.
        """
        cls.check_names(values, where)
        known = settings_of(cls)
        try:
            return {name: from_file(known[name], one) for name, one in values.items()}
        except InputError as error:
            message = f"{where}: {error}"
            raise InputError(message) from None

    @classmethod
    def check_names(cls, values: Mapping[str, Any], where: str) -> None:
        """Refuse settings that do not exist, naming them."""
        known = list(settings_of(cls))
        for name in values:
            if name not in known:
                message = f"{where}: {unknown_setting(name, known)}"
                raise InputError(message)
