"""What scikit-learn asks of an estimator, without loading scikit-learn.

Its own base class does the same, and takes a second to import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, Self

from fdgcl._checks import InputError, nearest, renamed

P = ParamSpec("P")


def answers_old_names(init: Callable[P, None]) -> Callable[P, None]:
    """Let an `__init__` say what a parameter is called now, where that has changed."""

    @wraps(init)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        _refuse_old_names(kwargs)
        init(*args, **kwargs)

    return checked


def _refuse_old_names(given: Mapping[str, object]) -> None:
    for name in given:
        message = renamed(name)
        if message:
            raise InputError(message)


class Estimator:
    """Parameters are the arguments of `__init__`, kept under their names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return all parameters; none of them is an estimator, so `deep` is idle."""
        return {name: getattr(self, name) for name in sorted(self._defaults())}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters.

        Raises:
            InputError: There is no such parameter.
        """
        _refuse_old_names(params)
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                message = f"unknown parameter {name!r}{nearest(name, list(known))}"
                raise InputError(message)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Show the parameters that are not as they are by default."""
        changed = [f"{name}={value!r}" for name, value in self._changed().items()]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn's own tools what this is."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def _changed(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name, default in self._defaults().items()
            if _differ(getattr(self, name), default)
        }

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls)
        return {name: p.default for name, p in signature.parameters.items()}


def _differ(value: Any, default: Any) -> bool:
    try:
        return bool(value != default)
    except ValueError:  # arrays compare number by number
        return True
