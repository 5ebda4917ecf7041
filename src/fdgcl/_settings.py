"""Settings, each described once: default, meaning, and how it is read from text.

The settings of a method are a frozen dataclass whose fields are made by `setting`. From
it come the signature and the docstring of the estimator, the options of the command
line, the reading of settings files, and docs/settings.md. Nothing here or in those
dataclasses loads torch: `fdgcl embed --help` answers at once.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from fdgcl._checks import InputError

Panel = Literal["Diffusion", "Training", "Run"]
PANELS: tuple[Panel, ...] = ("Diffusion", "Training", "Run")
_ABOUT = "fdgcl"
_PACKAGES = ("collections.abc.", "typing.")

T = TypeVar("T")

if TYPE_CHECKING:

    class NameOf(Generic[T]):
        """Type of a setting given as a name or an object, and kept as a name."""

        def __get__(self, instance: object, owner: type | None = None) -> str: ...

        def __set__(self, instance: object, value: str | T) -> None: ...


@dataclass(frozen=True)
class About:
    """What is known of a setting beside its name, type and default.

    Attributes:
        text: What it means, in a sentence or two, for the docstring and the help.
        panel: Under which heading the help shows it.
        metavar: What stands for its value in the help, unless its type says it.
        shown: The default in words, where the value alone would not tell.
        option: Whether the command line has an option of its name.
    """

    text: str
    panel: Panel = "Training"
    metavar: str | None = None
    shown: str | None = None
    option: bool = True


def setting(
    default: Any,
    text: str,
    *,
    panel: Panel = "Training",
    metavar: str | None = None,
    shown: str | None = None,
    option: bool = True,
) -> Any:
    """Describe a setting: the field of a dataclass of settings.

    What the command line and files take for it follows from the field's annotation:
    `int`, `float`, `bool`, `str`, `Sequence[float]`, `Sequence[str]`, `Mapping`, or
    several of them, as in `float | Sequence[float] | None`.

    Args:
        default: Its default, a value that nothing changes.
        text: See `About`, as for all others.
        panel: Heading in the help.
        metavar: What stands for its value.
        shown: The default in words.
        option: Whether there is an option of that name.

    Example:
        >>> from dataclasses import dataclass, fields
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Settings:
        ...     tau: float = setting(0.5, "Temperature.")
        >>> [tau] = fields(Settings)
        >>> Settings(tau=0.1).tau, about(tau).text, from_text(tau, "0.2")
        (0.1, 'Temperature.', 0.2)
    """
    known = About(text, panel, metavar, shown, option)
    return field(default=default, metadata={_ABOUT: known})


def about(one: Field[Any]) -> About:
    """What is known of a field that `setting` made."""
    known = one.metadata[_ABOUT]
    assert isinstance(known, About)
    return known


def settings_of(kind: type) -> dict[str, Field[Any]]:
    """The settings of a dataclass in reading order: by panel, its own before others'.

    Args:
        kind: The dataclass, whose fields were made by `setting`.
    """
    found = {one.name: one for one in fields(kind)}
    own_first = dict.fromkeys(
        name
        for base in kind.__mro__
        for name in vars(base).get("__annotations__", {})
        if name in found
    )
    return {
        name: found[name]
        for panel in PANELS
        for name in own_first
        if about(found[name]).panel == panel
    }


def types_of(one: Field[Any]) -> list[str]:
    """What a setting may be, as written: `float | None` is "float" and "None".

    `NameOf[Loss]` is "str" and "Loss".
    """
    given = one.type
    text = given if isinstance(given, str) else inspect.formatannotation(given)
    for package in _PACKAGES:
        text = text.replace(package, "")
    text = re.sub(r"NameOf\[(\w+)\]", r"str | \1", text)
    return [part.strip() for part in text.split("|")]


def shown_default(one: Field[Any]) -> str:
    """The default of a setting, as the command line would take it.

    Example:
        >>> from dataclasses import dataclass, fields
        >>> @dataclass
        ... class Settings:
        ...     orders: tuple[float, ...] = setting((0.01, 1.0), "Orders.")
        >>> shown_default(fields(Settings)[0])
        '0.01,1'
    """
    known = about(one).shown
    if known is not None:
        return known
    if isinstance(one.default, tuple):
        return ",".join(map(_word, one.default)) or "nothing"
    return _word(one.default)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def signature_of(kind: type) -> inspect.Signature:
    """The settings as keyword arguments."""
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=one.default,
                annotation=" | ".join(types_of(one)),
            )
            for name, one in settings_of(kind).items()
        ]
    )


def argument_lines(kind: type, indent: str = " " * 4, width: int = 84) -> list[str]:
    """The settings as the lines under `Args:` of a docstring."""
    lines: list[str] = []
    for name, one in settings_of(kind).items():
        lines += textwrap.wrap(
            f"{name}: {about(one).text}",
            width,
            initial_indent=indent,
            subsequent_indent=indent + " " * 4,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def from_text(one: Field[Any], text: str, called: str | None = None) -> Any:
    """Read the value of a setting from what somebody typed.

    Args:
        one: The setting.
        text: The text: a word, a number, several with commas between them, or
            NAME=VALUE pairs.
        called: What to call the setting in messages; by default its name.

    Raises:
        InputError: It is none of what the setting may be.

    Example:
        >>> from fdgcl.methods.fdgcl.settings import Settings
        >>> known = settings_of(Settings)
        >>> from_text(known["beta"], "0.3"), from_text(known["beta"], "1,3")
        (0.3, (1.0, 3.0))
        >>> from_text(known["dynamics_options"], "reaction=fisher,nu=0.5")
        {'reaction': 'fisher', 'nu': 0.5}
    """
    called, types = called or one.name, types_of(one)
    text = text.strip()
    if "bool" in types:
        return _truth(text, called)
    if any(part.startswith("Mapping") for part in types):
        return _pairs(text, called)
    if "Sequence[str]" in types:
        return tuple(_unquoted(part) for part in _parts(text))
    if "Sequence[float]" in types:
        numbers = _numbers(text, called)
        return numbers[0] if "float" in types and len(numbers) == 1 else numbers
    return _single(text, types, called)


def from_file(one: Field[Any], value: Any) -> Any:
    """Read the value of a setting from a value of TOML or JSON.

    Texts are read as `from_text` does, and lists become tuples; what else a value is
    wrong for, the check of the settings says.
    """
    if isinstance(value, str):
        return from_text(one, value)
    return tuple(value) if isinstance(value, list) else value


def _single(text: str, types: Iterable[str], called: str) -> Any:
    for name, kind in (("int", int), ("float", float)):
        if name in types:
            try:
                return kind(text)
            except ValueError:
                continue
    if "str" not in types:
        wanted = "a number" if "float" in types else "a whole number"
        message = f"{called} must be {wanted}, got {text!r}"
        raise InputError(message)
    return _unquoted(text)


def _truth(text: str, called: str) -> bool:
    if text.lower() not in ("true", "false"):
        message = f"{called} must be true or false, got {text!r}"
        raise InputError(message)
    return text.lower() == "true"


def _parts(text: str) -> Iterable[str]:
    return filter(None, (part.strip() for part in text.strip("[]()").split(",")))


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _numbers(text: str, called: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _parts(text))
    except ValueError:
        message = f'{called} must be numbers as in "0.5,1", got {text!r}'
        raise InputError(message) from None


def _pairs(text: str, called: str) -> Mapping[str, Any]:
    """Options as in `reaction=fisher,nu=0.5`; numbers and truth values are such."""
    found: dict[str, Any] = {}
    for part in _parts(text):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name:
            message = f"{called} must be as in NAME=VALUE,NAME=VALUE, got {text!r}"
            raise InputError(message)
        if name in found:
            message = f"{called} names {name!r} twice"
            raise InputError(message)
        found[name] = _option(value)
    return found


def _option(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return _single(text, ("int", "float", "str"), "")
