"""Schemes for fractional equations, by name. They know nothing of graphs."""

from __future__ import annotations

from typing import Any

from fdgcl._checks import InputError, choose
from fdgcl._parts import class_of, is_path, made, name_of, options_of
from fdgcl.diffusion.solvers.base import Solver, SteppingScheme, Weights
from fdgcl.diffusion.solvers.corrector import Corrector
from fdgcl.diffusion.solvers.exact import Exact
from fdgcl.diffusion.solvers.gl import GruenwaldLetnikov
from fdgcl.diffusion.solvers.l1 import L1
from fdgcl.diffusion.solvers.predictor import Predictor

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (Predictor(), Corrector(), L1(), GruenwaldLetnikov(), Exact())
}


def named_solver(given: object) -> Any:
    """Turn a solver that is an object into its name or import path.

    Raises:
        InputError: It has options: a saved model makes it again without any.

    Example:
        >>> named_solver(L1())
        'l1'
    """
    if not isinstance(given, Solver):
        return given
    options = options_of("solver", given)
    if options:
        message = (
            f"the solver {type(given).__name__} has options, {options!r}, and is made "
            "again without: derive a class that has them as it needs them"
        )
        raise InputError(message)
    classes = {name: type(solver) for name, solver in SOLVERS.items()}
    return name_of("solver", given, classes)


def build_solver(given: str | Solver) -> Solver:
    """Return a solver by name.

    Args:
        given: A key of `SOLVERS`, the import path of a `SteppingScheme` that is made
            without arguments, `package.module:Class`, or the solver itself.

    Raises:
        InputError: There is none.

    Example:
        >>> build_solver("l1").name
        'l1'
    """
    if isinstance(given, Solver):
        return given
    if not is_path(given):
        return choose("solver", given, SOLVERS)
    kind: type[SteppingScheme] = class_of("solver", given, {}, SteppingScheme)
    return made("solver", kind, {}, given)


__all__ = [
    "SOLVERS",
    "Solver",
    "SteppingScheme",
    "Weights",
    "build_solver",
    "named_solver",
]
