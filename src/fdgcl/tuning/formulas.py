"""Formulas of a search space: arithmetic on names, and nothing else."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

from fdgcl._checks import InputError

_OPERATORS: dict[type[ast.operator], Callable[[float, float], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_ALLOWED = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Name,
    ast.Constant,
    ast.operator,
    ast.USub,
    ast.Load,
)


@dataclass(frozen=True)
class Formula:
    """An expression of numbers, names, + - * / ** and brackets.

    Attributes:
        text: As written: "steps * step".
        where: What to name in errors: the file and the entry.
    """

    text: str
    where: str = "formula"

    def __post_init__(self) -> None:
        for node in ast.walk(self._tree):
            if not isinstance(node, _ALLOWED):
                raise self._refusal()
            if isinstance(node, ast.BinOp) and type(node.op) not in _OPERATORS:
                raise self._refusal()
            if isinstance(node, ast.Constant) and not is_number(node.value):
                raise self._refusal()

    @cached_property
    def _tree(self) -> ast.expr:
        try:
            return ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, TypeError):
            raise self._refusal() from None

    def _refusal(self) -> InputError:
        return InputError(
            f"{self.where}: {self.text!r} is not a formula; allowed are numbers, "
            "names, + - * / ** and brackets"
        )

    @property
    def names(self) -> frozenset[str]:
        """The names it needs."""
        nodes = ast.walk(self._tree)
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))

    def value(self, names: Mapping[str, float]) -> float:
        """Compute it; a few rounding digits are dropped.

        Raises:
            InputError: The result is no finite number.
        """
        try:
            result = _evaluate(self._tree, names)
            if not math.isfinite(result):
                raise ValueError
        except (ArithmeticError, ValueError, TypeError):
            shown = ", ".join(f"{name} = {names[name]}" for name in sorted(self.names))
            message = f"{self.where}: {self.text!r} has no finite value for {shown}"
            raise InputError(message) from None
        return float(f"{result:.12g}")


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _evaluate(node: ast.expr, names: Mapping[str, float]) -> Any:
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left, names), _evaluate(node.right, names)
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp):
        return -_evaluate(node.operand, names)
    if isinstance(node, ast.Name):
        return float(names[node.id])
    assert isinstance(node, ast.Constant)
    return float(node.value)  # type: ignore[arg-type]
