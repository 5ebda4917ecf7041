"""Named tensors in files: safetensors, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl._files import atomic_path


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]
) -> None:
    """Write named tensors as safetensors, atomically."""
    whole = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    content = safetensors.torch.save(whole, dict(metadata))
    with atomic_path(path, len(content)) as temporary:
        temporary.write_bytes(content)


@contextmanager
def opened_tensors(path: Path) -> Iterator[Any]:
    """Open a file to look at its tensors.

    Raises:
        InputError: It is missing, or damaged.
    """
    if not path.is_file():
        message = f"{path} is missing"
        raise InputError(message)
    try:
        with safetensors.safe_open(path, framework="pt") as stream:
            yield stream
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        message = f"{path} is not a whole safetensors file"
        raise InputError(message) from None


def read_tensors(path: Path, wanted: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read named tensors and their metadata.

    Args:
        path: The file.
        wanted: What its metadata must have as `format`.

    Raises:
        InputError: It is missing, damaged, or of another format.
    """
    with opened_tensors(path) as stream:
        tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        metadata = dict(stream.metadata() or {})
    if metadata.get("format") != wanted:
        message = f"{path} was not written by fdgcl"
        raise InputError(message)
    return tensors, metadata
