"""Files that workflows write: whose they are, and that none is replaced unasked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from fdgcl._checks import InputError
from fdgcl._files import LEDGER, write_json

FIGURES = (".png", ".pdf", ".svg")


def checksum(path: Path) -> str | None:
    """What tells one embedding, or any file, from another; None if there is none.

    Of a file, its SHA-256; of a folder of parts, what all of its parts say of the model
    that made them.
    """
    import hashlib

    if path.is_dir():
        from fdgcl.embeddings import model_of_parts

        return model_of_parts(path)
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is, before anything is computed.

    Raises:
        InputError: There is a file, and it is not to be replaced.
    """
    if path.exists() and not overwrite:
        message = (
            f"{path} is there already: add `overwrite=True` to replace it, or name "
            "another"
        )
        raise InputError(message)


def refuse_parts(folder: Path, *, overwrite: bool) -> None:
    """Refuse to mix the parts of two embeddings, before anything is computed.

    Raises:
        InputError: There are some in the folder, and they are not to be replaced.
    """
    from fdgcl.embeddings import part_files

    if part_files(folder) and not overwrite:
        message = (
            f"{folder} holds another embedding: add `overwrite=True` to replace it, or "
            "name another folder"
        )
        raise InputError(message)


class Ledger:
    """What a run wrote outside of its folder, and how it left that.

    Args:
        folder: Of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / LEDGER
        self._folder = folder

    def check(self, path: Path, *, overwrite: bool) -> None:
        """Refuse to replace a file, unless this run left it so.

        Raises:
            InputError: There is another file, and it is not to be replaced.
        """
        refuse_existing(path, overwrite=overwrite or self.owns(path))

    def check_figures(self, folder: Path, *, overwrite: bool) -> None:
        """Refuse a folder with figures that are not this run's.

        Raises:
            InputError: There are some, and they are not to be replaced.
        """
        for path in sorted(folder.glob("*")):
            if path.suffix in FIGURES:
                self.check(path, overwrite=overwrite)

    def owns(self, path: Path) -> bool:
        """Whether a file is in the run's folder, or as the run left it."""
        if path.absolute().is_relative_to(self._folder.absolute()):
            return True
        noted = self._read().get(str(path.absolute()))
        return noted is not None and noted == checksum(path)

    def note(self, paths: Iterable[Path]) -> None:
        """Note files as they are now."""
        inside = self._folder.absolute()
        found = {
            str(path.absolute()): checksum(path)
            for path in paths
            if not path.absolute().is_relative_to(inside)
        }
        if found:
            write_json(self._file, {**self._read(), **found})

    def _read(self) -> dict[str, str | None]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # a run that wrote nothing elsewhere, or that cannot tell
        return found if isinstance(found, dict) else {}
