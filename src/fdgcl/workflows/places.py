"""Paths as a report shows them: it is passed on, and folders are nobody's business."""

from __future__ import annotations

import re
from pathlib import Path

# A path from the root on, with at least one folder: not behind a word or another
# slash, as in addresses of the web.
_ABSOLUTE = re.compile(r"(?<![\w:/.~-])/(?:[^\s/'\"`;,()=]+/)+[^\s'\"`;,()=]*")


def shown_path(path: Path | str) -> str:
    """A path from the working folder on; outside of that, its name."""
    place = Path(path)
    if not place.is_absolute():
        return str(path)
    for known, here in ((place, Path.cwd()), (place.resolve(), Path.cwd().resolve())):
        if known.is_relative_to(here):
            return str(known.relative_to(here))
    return place.name


def without_folders(text: str, *known: Path | str | None) -> str:
    """A text in which no absolute path is left.

    Args:
        text: The text.
        known: Paths that may stand in it, and may hold blanks.
    """
    given = sorted({str(path) for path in known if path is not None}, key=len)
    for path in reversed(given):
        if Path(path).is_absolute():
            text = text.replace(path, shown_path(path))
    return _ABSOLUTE.sub(lambda found: shown_path(found[0].rstrip("/")), text)
