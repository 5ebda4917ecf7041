"""The settings of FD-GCL, each described once; `checking` says what they may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fdgcl._settings import setting
from fdgcl.methods.settings import MethodSettings

if TYPE_CHECKING:
    from fdgcl._settings import NameOf
    from fdgcl.diffusion import Dynamics, Schedule
    from fdgcl.diffusion.solvers import Solver
    from fdgcl.losses import Loss
    from fdgcl.methods.fdgcl.activations import Activation

# Far from the encoders' own seeds: their weights and a dynamics' must not be alike.
DYNAMICS_SEED = 10_000_019
#: Of each view, where several stand side by side.
HIDDEN_COLUMNS = 256


@dataclass(frozen=True, kw_only=True)
class Settings(MethodSettings):
    """The settings of one model.

    Example:
        >>> found = Settings(orders=(0.1, 1.0), loss="vicreg")
        >>> found.schedule.steps, found.new_loss()
        (2, VICReg(25.0, 25.0, 1.0))
    """

    orders: Sequence[float] = setting(
        (0.01, 1.0),
        "Fractional orders (alpha) in (0, 1], one per view: small keep local detail, "
        "large sum up.",
        panel="Diffusion",
        metavar="A,B,...",
    )
    time: float = setting(40.0, "How long features diffuse (T).", panel="Diffusion")
    step: float = setting(
        20.0,
        "Step of the solver (h), at most the time; there are ceil(T / h) of them.",
        panel="Diffusion",
    )
    solver: NameOf[Solver] = setting(
        "predictor",
        "Scheme: `predictor`, `corrector`, `l1`, `gl`, `exact`, or "
        "`package.module:Class` of your own.",
        panel="Diffusion",
    )
    rate: float = setting(
        0.05, "Factor in front of the equation's right-hand side.", panel="Diffusion"
    )
    dynamics: NameOf[Dynamics] = setting(
        "grand",
        "The equation's right-hand side: `grand` (heat), `grand-attention`, "
        "`grand-nonlinear`, `graphcon`, `cde`, `gread`, or `package.module:Class` of "
        "your own. Linear ones with fixed weights are applied once, before training; "
        "others are stepped and trained.",
        panel="Diffusion",
    )
    dynamics_options: Mapping[str, Any] | None = setting(
        None,
        "The dynamics' own options, as in reaction=fisher,nu=0.5.",
        panel="Diffusion",
        metavar="A=X,B=Y",
        shown="its defaults",
    )
    skip: str | int = setting(
        "none",
        "When the initial features are added again: `none`, `end`, `every-step`, or "
        "after each of a number of equal segments.",
        panel="Diffusion",
        metavar="WHEN",
    )
    edge_types: str = setting(
        "separate",
        "Edges of several types: `separate` (features are diffused along each type by "
        "itself, side by side) or `merge` (as if there were one).",
        panel="Diffusion",
    )
    self_loops: float = setting(
        1.0, "Weight of each node's self-loop.", panel="Diffusion"
    )
    normalization: str = setting(
        "symmetric",
        "How edge weights are normalised: `symmetric`, `row` or `column`.",
        panel="Diffusion",
    )
    window: int | None = setting(
        None,
        "Newest history entries that a step of the solver sums over (its short "
        "memory).",
        panel="Diffusion",
        shown="all",
    )
    gradient: str = setting(
        "adjoint",
        "Through the steps, where there are any: `adjoint` (keeps the states alone), "
        "`checkpoint` (fewer of them) or `autograd` (all that is computed).",
        panel="Diffusion",
    )
    feature_scaling: str = setting(
        "auto",
        "What is done to the features first: `auto` (`row` for bags of words, `none` "
        "for what was scaled already, else `columns`), `none`, `row` (rows of length "
        "1), `tf-idf` (columns weighted by how rare they are, then `row`) or `columns` "
        "(each to mean 0 and variance 1; sparse ones keep their zeros).",
        panel="Diffusion",
    )
    reduce: int = setting(
        1024,
        "Columns that wider features are reduced to, by their principal directions, in "
        "what is kept beside the views; 0 for none.",
        panel="Diffusion",
    )
    reduce_views: bool | None = setting(
        None,
        "Whether views are made of the reduced features, too: of all columns they are "
        "better, and take more memory.",
        panel="Diffusion",
        shown="where training is by batches",
    )
    dim: int = setting(
        2048,
        "Columns of the embedding, at most. Of parts with more, PCA keeps what varies "
        "most.",
    )
    hidden: int | None = setting(
        None,
        "Columns of each view (d in the paper), which training makes.",
        shown="dim where views are mixed, else 256 and dim at most",
    )
    init_scale: float = setting(
        1.0,
        "Factor on the initial weights: how far training can move from them. "
        "Standardised columns do not see it otherwise.",
    )
    activation: NameOf[Activation] = setting(
        "half-relu",
        "`half-relu` (half of the columns as they are, the others rectified), `relu`, "
        "`elu`, `gelu`, `tanh`, `linear` (none), or `package.module:name` of "
        "a function or class, as `torch:sigmoid` is.",
    )
    standardize: bool = setting(
        True,
        "Bring every hidden column to mean 0 and variance 1 over all nodes before the "
        "activation; without, it is the paper's text to the letter.",
    )
    loss: NameOf[Loss] = setting(
        "barlow-twins",
        "What makes the views agree: `regularized-cosmean`, `cosmean`, `euclidean`, "
        "`barlow-twins`, `vicreg`, or `package.module:Class` of your own.",
    )
    loss_options: Mapping[str, Any] | None = setting(
        None,
        "The loss's own options, as in variance=10,covariance=0.5.",
        metavar="A=X,...",
        shown="its defaults",
    )
    pairs: str = setting(
        "all", "Which views the loss compares: `all` pairs, or `consecutive` ones."
    )
    beta: float | Sequence[float] | None = setting(
        None,
        "Weight of the first view in the embedding, of which the others share the "
        "rest, or weights of all. Unset, the graph decides, without labels: side by "
        "side, by how much neighbours tell of a node; mixed, all alike, or the first "
        "alone where neighbours' features tell nothing.",
        metavar="B,...",
        shown="decided by the graph",
    )
    combine: str = setting(
        "concat",
        "How the views become the embedding: `sum` (weighted by beta, as in the paper) "
        "or `concat` (side by side, weighted so).",
    )
    # Once the settings are checked it is a tuple, whatever was given.
    keep: Sequence[str] = setting(
        None,
        "Columns beside the views, untouched by training: some of `features`, `local` "
        "and `global` (as the first and the last order diffuse them), `out` and `in` "
        "(means over the nodes that a node points to, and that point to it; one block "
        "where edges have no direction).",
        metavar="A,B",
        shown="features,global,out,in; none where views are mixed",
    )
    keep_weight: float | Sequence[float] | None = setting(
        None,
        "Weight of each block that is kept, or weights of all in the order of keep; 1 "
        "is as much as the views have. Unset, the graph decides where views stand side "
        "by side (concat), and it is 1 where they are mixed.",
        metavar="W,...",
        shown="decided by the graph",
    )
    eta: float = setting(0.1, "Weight of the regulariser of regularized-cosmean.")
    batch_size: int | None = setting(
        None,
        "Rows of a mini-batch. Unset, all rows up to 16 million numbers a view; above, "
        "batches of 4 million, which share one step's length (lr).",
        shown="all, on large graphs some",
    )
    strategy: str = setting(
        "auto",
        "`precompute` diffuses the features once, `in-loop` the encoded features in "
        "every epoch, `auto` takes the cheaper.",
    )
    precision: str = setting(
        "float32",
        "Of dense products in training on CUDA: `float32`, `tf32` (factors of 11 bits, "
        "a relative 5e-4) or `float16` (keeps the views so, too, in half the memory).",
        panel="Run",
    )
    fast: bool = setting(
        True,
        "Fused training steps where there are such, which give the same up to "
        "rounding.",
        panel="Run",
    )

    def __post_init__(self) -> None:
        # It loads torch, which the description does without.
        from fdgcl.methods.fdgcl.checking import check_together, checked, named_parts

        for name, value in named_parts(self).items():
            self._set(name, value)
        super().__post_init__()
        for name, value in checked(self).items():
            self._set(name, value)
        check_together(self)

    def reduced(self, columns: int) -> int:
        """How many columns features are reduced to, of so many."""
        return min(columns, self.reduce) if self.reduce else columns

    @property
    def schedule(self) -> Schedule:
        """The time axis of the diffusion."""
        from fdgcl.diffusion import Schedule

        return Schedule(self.time, self.step, self.solver, self.skip, self.window)  # type: ignore[arg-type]

    def new_loss(self) -> Loss:
        """The loss itself.

        Raises:
            InputError: It cannot be made, or there is nothing for it to compare.
        """
        from fdgcl.methods.fdgcl.checking import check_compared

        return check_compared(self)

    def new_dynamics(self, dim: int, view: int = 0) -> Dynamics:
        """The dynamics, its parameters new; each view starts from its own."""
        from fdgcl.diffusion import build_dynamics

        return build_dynamics(
            self.dynamics,
            self.dynamics_options,
            rate=self.rate,
            dim=dim,
            seed=DYNAMICS_SEED + 2 * self.seed + view,
            dtype=self.torch_dtype,
        )

    @property
    def hidden_columns(self) -> int:
        """Columns of each view.

        Example:
            >>> Settings().hidden_columns, Settings(dim=64).hidden_columns
            (256, 64)
            >>> Settings(combine="sum", dim=512).hidden_columns
            512
        """
        if self.hidden is not None:
            return self.hidden
        # The mixture of views is to have the embedding's columns.
        return self.dim if self.combine == "sum" else min(self.dim, HIDDEN_COLUMNS)

    @cached_property
    def is_fixed_linear(self) -> bool:
        """Whether the diffusion can be done once, before training."""
        return self.new_dynamics(dim=1).is_fixed_linear
