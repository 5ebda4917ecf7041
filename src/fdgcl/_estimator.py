"""What scikit-learn asks of an estimator, without loading scikit-learn.

Its own base class does the same, and takes a second to import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Concatenate, ParamSpec, Self

from fdgcl._checks import InputError, nearest, renamed
from fdgcl._settings import argument_lines, signature_of

P = ParamSpec("P")

#: Sections of a docstring that come after its arguments.
_LATER = ("Attributes:", "Raises:", "Example:")


def takes(
    settings: Callable[P, object],
) -> Callable[[Callable[[Any], None]], Callable[Concatenate[Any, P], None]]:
    """Let the `__init__` of an estimator take the settings of a dataclass.

    They are kept as they are given, under their names, and checked when fitting. The
    signature, the section `Args:` of the class's docstring and what type checkers know
    come from the dataclass.

    Args:
        settings: The dataclass, whose fields were made by `setting`.

    Example:
        >>> from dataclasses import dataclass
        >>> from fdgcl._settings import setting
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Settings:
        ...     dim: int = setting(64, "Columns.")
        >>> class Model(Estimator):
        ...     @takes(Settings)
        ...     def __init__(self) -> None:
        ...         pass
        >>> Model(dim=8)
        Model(dim=8)
    """
    assert isinstance(settings, type)
    arguments = signature_of(settings)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    whole = inspect.Signature([own, *arguments.parameters.values()])

    def decorate(init: Callable[[Any], None]) -> Callable[Concatenate[Any, P], None]:
        def keep(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
            _refuse_old_names(kwargs)
            bound = arguments.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                setattr(self, name, value)
            init(self)

        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(keep, name, getattr(init, name))
        keep.__signature__ = whole  # type: ignore[attr-defined]
        keep.settings = settings  # type: ignore[attr-defined]
        return keep

    return decorate


def _refuse_old_names(given: Mapping[str, object]) -> None:
    for name in given:
        message = renamed(name)
        if message:
            raise InputError(message)


class Estimator:
    """Parameters are the arguments of `__init__`, kept under their names.

    Attributes:
        settings_type: The dataclass of settings that `__init__` takes.
    """

    settings_type: ClassVar[type[Any]]

    def __init_subclass__(cls) -> None:
        """Put the settings that `__init__` takes into the docstring."""
        super().__init_subclass__()
        settings = getattr(vars(cls).get("__init__"), "settings", None)
        if settings is not None:
            cls.settings_type = settings
            cls.__doc__ = _with_arguments(cls.__doc__, settings)

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


def _with_arguments(docstring: str | None, settings: type) -> str | None:
    """Put the settings where a docstring has its arguments; None has no place."""
    if docstring is None:
        return None
    # By now an indentation may be gone, or not: Python 3.13 takes it away.
    lines = inspect.cleandoc(docstring).splitlines()
    end = next((i for i, line in enumerate(lines) if line in _LATER), len(lines))
    above = "\n".join(lines[:end]).rstrip()
    section = "\n".join(["Args:", *argument_lines(settings)])
    below = "\n".join(lines[end:])
    return "\n\n".join(filter(None, [above, section, below]))


def _differ(value: Any, default: Any) -> bool:
    try:
        return bool(value != default)
    except ValueError:  # arrays compare number by number
        return True
