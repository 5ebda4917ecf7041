"""Every setting of the model, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Self, get_args

import torch

from fdgcl._checks import (
    MOST_DIM,
    MOST_EPOCHS,
    InputError,
    check_count,
    check_fraction,
    check_nonnegative,
    check_order,
    check_positive,
    check_seed,
    choose,
    unknown_setting,
)
from fdgcl._parts import name_of, options_of
from fdgcl.diffusion import (
    GRADIENTS,
    Dynamics,
    Schedule,
    build_dynamics,
    check_method,
)
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.graphs.scaling import FEATURE_SCALINGS
from fdgcl.graphs.structural import STRUCTURAL
from fdgcl.losses import LOSSES, Loss, build_loss
from fdgcl.methods.fdgcl import ACTIVATIONS, COMBINATIONS, KEPT, PAIRS
from fdgcl.methods.fdgcl.readout import check_readouts

EDGE_TYPES = ("separate", "merge")
#: Views, each with weights and diffused features of its own.
MOST_ORDERS = 64
STRATEGIES = ("auto", "precompute", "in-loop")
# Far from the encoders' own seeds: their weights and a dynamics' must not be alike.
DYNAMICS_SEED = 10_000_019
# Far from what float32 can hold, so that bounds computed from it are numbers.
LARGEST_SCALE = 1e30
DTYPES = {"float32": torch.float32, "float64": torch.float64}
# Of dense products in training on CUDA, with torch's name for the same: tf32 rounds
# factors to 11 bits and sums in float32; float16 keeps the views so, too.
PRECISIONS = {"float32": "highest", "tf32": "high", "float16": "high"}


@dataclass(frozen=True)
class Settings:
    """The settings of one model. `FDGCL` says what each of them means."""

    orders: tuple[float, ...]
    time: float
    step: float
    solver: str
    rate: float
    dynamics: str
    dynamics_options: Mapping[str, Any] | None
    skip: str | int
    direction: str | None
    edge_types: str
    self_loops: float
    normalization: str
    window: int | None
    gradient: str
    feature_scaling: str
    dim: int
    init_scale: float
    activation: str
    standardize: bool
    loss: str
    loss_options: Mapping[str, Any] | None
    pairs: str
    beta: float | Sequence[float] | None
    combine: str
    keep: Sequence[str]
    keep_weight: float
    eta: float
    lr: float
    weight_decay: float
    epochs: int
    batch_size: int | None
    strategy: str
    readout: Sequence[str]
    structural: str
    seed: int
    device: str
    dtype: str
    precision: str
    fast: bool

    def __post_init__(self) -> None:
        self._check_loss()
        self._check_orders()
        self._check_keep()
        object.__setattr__(self, "readout", check_readouts(self.readout))
        assert isinstance(self.schedule, Schedule)
        check_nonnegative("self_loops", self.self_loops)
        self._check_beta()
        check_nonnegative("eta", self.eta)
        check_positive("keep_weight", self.keep_weight)
        check_positive("lr", self.lr)
        if check_positive("init_scale", self.init_scale) > LARGEST_SCALE:
            message = (
                f"init_scale must be at most {LARGEST_SCALE:g}, got {self.init_scale}"
            )
            raise InputError(message)
        check_nonnegative("weight_decay", self.weight_decay)
        self._check_counts()
        for kind, name, known in self._choices():
            choose(kind, name, known)
        self._check_single()
        for name in ("standardize", "fast"):
            choose(name, str(getattr(self, name)), {"True": None, "False": None})
        self._check_dynamics()
        if self.strategy == "in-loop" and self.batch_size is not None:
            message = (
                "strategy 'in-loop' diffuses all rows in every epoch, so it takes no "
                f"batch_size, got {self.batch_size}"
            )
            raise InputError(message)

    def _check_counts(self) -> None:
        """Whole numbers become such: 64.0 of a file is 64."""
        checked = {
            "dim": check_count("dim", self.dim, maximum=MOST_DIM),
            "epochs": check_count("epochs", self.epochs, 0, MOST_EPOCHS),
            "seed": check_seed("seed", self.seed),
        }
        if self.batch_size is not None:
            checked["batch_size"] = check_count("batch_size", self.batch_size, 2)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _check_orders(self) -> None:
        try:
            orders = tuple(float(order) for order in self.orders)
        except (TypeError, ValueError, OverflowError):
            orders = ()
        if not orders:
            message = f"orders must be some numbers in (0, 1], got {self.orders!r}"
            raise InputError(message)
        if len(orders) > MOST_ORDERS:
            message = f"there must be at most {MOST_ORDERS} orders, got {len(orders)}"
            raise InputError(message)
        for order in orders:
            check_order(order)
        object.__setattr__(self, "orders", orders)

    def _check_beta(self) -> None:
        if self.beta is None:
            return
        if not isinstance(self.beta, Sequence):
            check_fraction("beta", self.beta)
            return
        weights = tuple(check_fraction("beta", weight) for weight in self.beta)
        if len(weights) != len(self.orders) or not sum(weights):
            message = (
                "beta must be the weight of the first view, or weights of all "
                f"{len(self.orders)} views, not all of them 0, got {self.beta!r}"
            )
            raise InputError(message)
        object.__setattr__(self, "beta", weights)

    def _check_loss(self) -> None:
        """Turn an object into what can be saved, and check a loss that is known.

        One that has to be imported is not before it is needed: a trained model does
        without.
        """
        given: object = self.loss
        if isinstance(given, Loss):
            if self.loss_options:
                message = (
                    f"loss_options belong to a loss given by name, and {given!r} has "
                    f"options already, got {self.loss_options!r}"
                )
                raise InputError(message)
            options = options_of("loss", given)
            object.__setattr__(self, "loss", name_of("loss", given, LOSSES))
            object.__setattr__(self, "loss_options", options or None)
            return
        options_given: object = self.loss_options
        if not isinstance(options_given, Mapping | None):
            message = f"loss_options must map names to values, got {options_given!r}"
            raise InputError(message)
        if options_given is not None:
            object.__setattr__(self, "loss_options", dict(options_given))
        if not isinstance(given, str) or ":" not in given:
            choose("loss", self.loss, LOSSES)
            self.new_loss()

    def new_loss(self) -> Loss:
        """The loss itself."""
        return build_loss(self.loss, self.eta, self.loss_options)

    def _check_single(self) -> None:
        """Refuse to train a view by a loss that only compares it with others."""
        if len(self.orders) == 1 and self.epochs and self.new_loss().needs_two:
            message = (
                f"loss {self.loss!r} compares views of two orders or more, and there "
                f"is one, {self.orders[0]:g}: give more orders, choose loss "
                "'barlow-twins' or 'vicreg', or epochs 0"
            )
            raise InputError(message)

    def _check_keep(self) -> None:
        if isinstance(self.keep, str) or not isinstance(self.keep, Sequence):
            message = (
                f"keep must be a list of some of {', '.join(KEPT)}, got {self.keep!r}"
            )
            raise InputError(message)
        for name in self.keep:
            choose("kept block", str(name), dict.fromkeys(KEPT))
        object.__setattr__(self, "keep", tuple(dict.fromkeys(self.keep)))

    def _check_dynamics(self) -> None:
        """Refuse what the dynamics cannot do, by name."""
        given: object = self.dynamics_options
        if not isinstance(given, Mapping | None):
            message = f"dynamics_options must map names to values, got {given!r}"
            raise InputError(message)
        if given is not None:
            object.__setattr__(self, "dynamics_options", dict(given))
        dynamics = self.new_dynamics(dim=1)
        check_method(dynamics, self.schedule, "auto")
        if dynamics.is_fixed_linear:
            return
        why = f"dynamics {self.dynamics!r} is stepped in every epoch"
        if self.dynamics_options:
            why = f"{why} with these options"
        if self.strategy == "precompute":
            message = f"{why}: strategy 'precompute' needs one that no training changes"
            raise InputError(message)
        blocks = [name for name in self.keep if name != "features"]
        if blocks:
            message = (
                f"{why}: of what to keep beside it, only 'features' can be, not "
                f"{blocks[0]!r}; give keep anew"
            )
            raise InputError(message)

    def _choices(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        return [
            ("direction", self.direction or "symmetric", _names(Direction)),
            ("edge_types", self.edge_types, dict.fromkeys(EDGE_TYPES)),
            ("normalization", self.normalization, _names(Normalization)),
            ("feature_scaling", self.feature_scaling, dict.fromkeys(FEATURE_SCALINGS)),
            ("combine", self.combine, dict.fromkeys(COMBINATIONS)),
            ("pairs", self.pairs, dict.fromkeys(PAIRS)),
            ("activation", self.activation, ACTIVATIONS),
            ("gradient", self.gradient, dict.fromkeys(GRADIENTS)),
            ("strategy", self.strategy, dict.fromkeys(STRATEGIES)),
            ("structural features", self.structural, STRUCTURAL),
            ("device", str(self.device).partition(":")[0], dict.fromkeys(_DEVICES)),
            ("dtype", self.dtype, DTYPES),
            ("precision", self.precision, PRECISIONS),
        ]

    @property
    def schedule(self) -> Schedule:
        """The time axis of the diffusion."""
        return Schedule(self.time, self.step, self.solver, self.skip, self.window)  # type: ignore[arg-type]

    def new_dynamics(self, dim: int, view: int = 0) -> Dynamics:
        """The dynamics, its parameters new; each view starts from its own."""
        return build_dynamics(
            self.dynamics,
            self.dynamics_options,
            rate=self.rate,
            dim=dim,
            seed=DYNAMICS_SEED + 2 * self.seed + view,
            dtype=DTYPES[self.dtype],
        )

    @cached_property
    def is_fixed_linear(self) -> bool:
        """Whether the diffusion can be done once, before training."""
        return self.new_dynamics(dim=1).is_fixed_linear

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype itself."""
        return DTYPES[self.dtype]

    @property
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
        check_names(values, where)
        missing = [field.name for field in fields(cls) if field.name not in values]
        if missing:
            message = f"{where}: settings are missing: {', '.join(missing)}"
            raise InputError(message)
        try:
            return cls(**values)
        except InputError as error:
            message = f"{where}: {error}"
            raise InputError(message) from None


def check_names(values: Mapping[str, Any], where: str) -> None:
    """Refuse settings that do not exist, naming them."""
    known = [field.name for field in fields(Settings)]
    for name in values:
        if name not in known:
            message = f"{where}: {unknown_setting(name, known)}"
            raise InputError(message)


_DEVICES = ("auto", "cpu", "cuda")


def _names(literal: Any) -> dict[str, None]:
    return dict.fromkeys(get_args(literal))
