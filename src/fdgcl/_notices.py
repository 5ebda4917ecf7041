"""What Python users are told: notices by the logger "fdgcl", warnings by `warnings`."""

from __future__ import annotations

import logging
import sys
import warnings

#: Tells at level INFO what was decided and how it went; silent unless asked for.
LOGGER = logging.getLogger("fdgcl")
LOGGER.addHandler(logging.NullHandler())


class FdgclWarning(UserWarning):
    """What fdgcl warns of, all of it.

    >>> import warnings
    >>> import fdgcl
    >>> warnings.filterwarnings("error", category=fdgcl.FdgclWarning)
    """


def notice(*texts: str) -> None:
    """Tell what was chosen or assumed, each text by a record of its own."""
    for text in texts:
        LOGGER.info(text)


def warn(text: str, category: type[FdgclWarning] = FdgclWarning) -> None:
    """Warn, pointing at the line outside of this package that led here."""
    level = outside = 1
    frame = sys._getframe()
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "fdgcl":
            outside = level + 1
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=outside)
