"""What the settings of FD-GCL may be, each by itself and all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from fdgcl._checks import (
    MOST_DIM,
    InputError,
    check_count,
    check_flag,
    check_fraction,
    check_nonnegative,
    check_order,
    check_positive,
    choose,
    in_words,
)
from fdgcl._parts import named
from fdgcl.diffusion import GRADIENTS, Schedule, check_method
from fdgcl.diffusion.dynamics import named_dynamics
from fdgcl.diffusion.solvers import named_solver
from fdgcl.graphs.directions import Normalization
from fdgcl.losses import LOSSES, Loss, build_loss
from fdgcl.methods.fdgcl.activations import build_activation, named_activation
from fdgcl.methods.fdgcl.combination import COMBINATIONS
from fdgcl.methods.fdgcl.embedding_parts import count_views
from fdgcl.methods.fdgcl.kept_blocks import AVERAGED, KEPT, KEPT_BY_DEFAULT
from fdgcl.methods.fdgcl.pairs import PAIRS
from fdgcl.methods.fdgcl.precision import PRECISIONS

if TYPE_CHECKING:
    from fdgcl.methods.fdgcl.settings import Settings

EDGE_TYPES = ("separate", "merge")
#: Views, each with weights and diffused features of its own.
MOST_ORDERS = 64
STRATEGIES = ("auto", "precompute", "in-loop")
# Far from what float32 can hold, so that bounds computed from it are numbers.
LARGEST_SCALE = 1e30


def named_parts(settings: Settings) -> dict[str, Any]:
    """Turn parts that are objects into what can be saved: names and options."""
    loss, loss_options = named(
        "loss", settings.loss, settings.loss_options, LOSSES, Loss
    )
    dynamics, dynamics_options = named_dynamics(
        settings.dynamics, settings.dynamics_options
    )
    return {
        "loss": loss,
        "loss_options": loss_options,
        "dynamics": dynamics,
        "dynamics_options": dynamics_options,
        "solver": named_solver(settings.solver),
        "activation": named_activation(settings.activation),
    }


def checked(settings: Settings) -> dict[str, Any]:
    """Check settings one by one, and return those that are kept in another form.

    Whole numbers become such: 64.0 of a file is 64.
    """
    found: dict[str, Any] = {
        "orders": _orders(settings.orders),
        "dim": check_count("dim", settings.dim, maximum=MOST_DIM),
        "reduce": check_count("reduce", settings.reduce, 0, MOST_DIM),
        "keep": _keep(settings),
    }
    if settings.hidden is not None:
        found["hidden"] = check_count("hidden", settings.hidden, maximum=MOST_DIM)
    if settings.batch_size is not None:
        found["batch_size"] = check_count("batch_size", settings.batch_size, 2)
    if settings.beta is not None:
        found["beta"] = _beta(settings.beta, len(found["orders"]))
    check_nonnegative("self_loops", settings.self_loops)
    check_nonnegative("eta", settings.eta)
    found["keep_weight"] = _keep_weight(settings.keep_weight, found["keep"])
    if check_positive("init_scale", settings.init_scale) > LARGEST_SCALE:
        message = (
            f"init_scale must be at most {LARGEST_SCALE:g}, got {settings.init_scale}"
        )
        raise InputError(message)
    if settings.reduce_views is not None:
        check_flag("reduce_views", settings.reduce_views)
    check_flag("standardize", settings.standardize)
    check_flag("fast", settings.fast)
    for name, known in {
        "edge_types": EDGE_TYPES,
        "normalization": get_args(Normalization),
        "combine": COMBINATIONS,
        "pairs": PAIRS,
        "gradient": GRADIENTS,
        "strategy": STRATEGIES,
        "precision": PRECISIONS,
    }.items():
        choose(name, getattr(settings, name), dict.fromkeys(known))
    return found


def check_together(settings: Settings) -> None:
    """Refuse settings that are fine one by one, and not together."""
    assert isinstance(settings.schedule, Schedule)
    build_activation(settings.activation)
    # A loss that has to be imported is not before it is needed: a trained model does
    # without.
    if ":" not in settings.loss:
        check_compared(settings)
    _check_dynamics(settings)
    _check_parts(settings)
    if settings.strategy == "in-loop" and settings.batch_size is not None:
        message = (
            "strategy 'in-loop' diffuses all rows in every epoch, so it takes no "
            f"batch_size, got {settings.batch_size}"
        )
        raise InputError(message)


def check_compared(settings: Settings) -> Loss:
    """Return the loss, unless it only compares views and there is one to train."""
    loss = build_loss(settings.loss, settings.eta, settings.loss_options)
    if len(settings.orders) == 1 and settings.epochs and loss.needs_two:
        message = (
            f"loss {settings.loss!r} compares views of two orders or more, and there "
            f"is one, {settings.orders[0]:g}: give more orders, choose loss "
            "'barlow-twins' or 'vicreg', or epochs 0"
        )
        raise InputError(message)
    return loss


def _check_parts(settings: Settings) -> None:
    """Refuse an embedding of fewer columns than it has parts."""
    views = count_views(settings, settings.beta)
    parts = views + len(settings.keep)
    if settings.dim < parts:
        which = [f"{views} views" if views > 1 else "the view"]
        which += [repr(name) for name in settings.keep]
        message = (
            f"dim must be at least {parts}, a column for each part of the embedding "
            f"({in_words(which)}), got {settings.dim}"
        )
        raise InputError(message)


def _check_dynamics(settings: Settings) -> None:
    """Refuse what the dynamics cannot do, by name."""
    dynamics = settings.new_dynamics(dim=1)
    check_method(dynamics, settings.schedule, "auto")
    if dynamics.is_fixed_linear:
        return
    why = f"dynamics {settings.dynamics!r} is stepped in every epoch"
    if settings.dynamics_options:
        why = f"{why} with these options"
    if settings.strategy == "precompute":
        message = f"{why}: strategy 'precompute' needs one that no training changes"
        raise InputError(message)
    blocks = [name for name in settings.keep if name not in ("features", *AVERAGED)]
    if blocks:
        message = (
            f"{why}: of what to keep beside it, only 'features', 'out' and 'in' can "
            f"be, not {blocks[0]!r}; give keep anew"
        )
        raise InputError(message)


def _orders(given: Sequence[float]) -> tuple[float, ...]:
    try:
        orders = tuple(float(order) for order in given)
    except (TypeError, ValueError, OverflowError):
        orders = ()
    if not orders:
        message = f"orders must be some numbers in (0, 1], got {given!r}"
        raise InputError(message)
    if len(orders) > MOST_ORDERS:
        message = f"there must be at most {MOST_ORDERS} orders, got {len(orders)}"
        raise InputError(message)
    for order in orders:
        check_order(order, "orders")
    return orders


def _beta(given: float | Sequence[float], views: int) -> float | tuple[float, ...]:
    if not isinstance(given, Sequence):
        check_fraction("beta", given)
        return given
    weights = tuple(check_fraction("beta", weight) for weight in given)
    if len(weights) != views or not sum(weights):
        message = (
            "beta must be the weight of the first view, or weights of all "
            f"{views} views, not all of them 0, got {given!r}"
        )
        raise InputError(message)
    return weights


def _keep(settings: Settings) -> tuple[str, ...]:
    given: Any = settings.keep
    if given is None:
        # What is mixed is the paper's embedding; side by side, what training does not
        # touch stands beside the views, as far as it is there before training.
        if settings.combine != "concat":
            return ()
        room = settings.dim - len(settings.orders)
        known = settings.is_fixed_linear
        wanted = [one for one in KEPT_BY_DEFAULT if known or one != "global"]
        return tuple(wanted[: max(room, 0)])
    if isinstance(given, str) or not isinstance(given, Sequence):
        message = f"keep must be a list of some of {', '.join(KEPT)}, got {given!r}"
        raise InputError(message)
    for name in given:
        choose("kept block", str(name), dict.fromkeys(KEPT))
    return tuple(dict.fromkeys(given))


def _keep_weight(
    given: float | Sequence[float] | None, keep: Sequence[str]
) -> float | tuple[float, ...] | None:
    if given is None:
        return None
    if not isinstance(given, Sequence):
        check_positive("keep_weight", given)
        return given
    weights = tuple(check_positive("keep_weight", weight) for weight in given)
    if len(weights) != len(keep):
        message = (
            "keep_weight must be one number, or a number for each of the "
            f"{len(keep)} blocks of keep ({', '.join(keep)}), got {given!r}"
        )
        raise InputError(message)
    return weights
