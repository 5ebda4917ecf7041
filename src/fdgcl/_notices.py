"""Messages in Python: notices by the logger "fdgcl", warnings by `warnings`."""

from __future__ import annotations

import logging
import sys
import warnings

#: Logs at level INFO what was decided and how it went; silent unless asked for.
LOGGER = logging.getLogger("fdgcl")
LOGGER.addHandler(logging.NullHandler())


class FdgclWarning(UserWarning):
    """The category of every warning of fdgcl.

    >>> import warnings
    >>> import fdgcl
    >>> warnings.filterwarnings("error", category=fdgcl.FdgclWarning)
    """


def notice(*texts: str) -> None:
    """Log what was chosen or assumed, one record for each text."""
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
