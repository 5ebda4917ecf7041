"""Commands whose parameters are not written down, but made: of settings, of tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Command = Callable[..., None]


def own_parameters(command: Command) -> list[inspect.Parameter]:
    """The parameters of a command as it is written."""
    return list(inspect.signature(command, eval_str=True).parameters.values())


def with_parameters(
    command: Command, parameters: Iterable[inspect.Parameter], call: Command
) -> Command:
    """A command as the parser is to see it.

    Args:
        command: Whose name and help it has.
        parameters: What it takes.
        call: Called with them.
    """
    taken = list(parameters)

    @wraps(command)
    def wrapper(**arguments: Any) -> None:
        call(**arguments)

    wrapper.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {one.name: one.annotation for one in taken}
    return wrapper
