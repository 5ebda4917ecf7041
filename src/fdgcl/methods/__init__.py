"""Methods that turn a graph into embeddings without labels, by name.

A method is one file, or a folder where it is large, and one line here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fdgcl._checks import choose

if TYPE_CHECKING:
    from fdgcl.methods.base import Method

#: Where each method is; loaded when it is asked for.
METHODS = {
    "fdgcl": "fdgcl.methods.fdgcl.method:FdgclMethod",
    "gcn": "fdgcl.methods.gcn:GCNMethod",
    "cca-ssg": "fdgcl.methods.cca_ssg:CCASSGMethod",
    "bgrl": "fdgcl.methods.bgrl:BGRLMethod",
}


def find_method(name: str) -> Method[Any, Any]:
    """Return a method by its name.

    Raises:
        InputError: There is none of that name; near ones are named.

    Example:
        >>> find_method("fdgcl").title
        'FD-GCL'
    """
    module, _, kind = choose("method", name, METHODS).partition(":")
    method: Method[Any, Any] = getattr(importlib.import_module(module), kind)()
    return method


__all__ = ["METHODS", "find_method"]
