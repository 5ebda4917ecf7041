"""The estimator of each method, and of a run folder.

`FDGCL` is written out, in `fdgcl.model`. Those of the compared methods are made of what
their files say, under the name of the class there less "Method":

>>> from fdgcl.estimators import BGRL
>>> BGRL(dim=8)
BGRL(dim=8)
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, Self

from fdgcl._estimator import takes
from fdgcl.embedder import GraphEmbedder
from fdgcl.methods import METHODS, find_method
from fdgcl.methods.published import published
from fdgcl.model import FDGCL
from fdgcl.run_folder import RunFolder


class ComparedMethod(GraphEmbedder):
    """A method that FD-GCL is compared with, some of whose settings were published.

    It does all that `FDGCL` does: fit, transform, save, load, run folders that are
    resumed, and scikit-learn's conventions.

    Example:
        >>> from fdgcl import block_model
        >>> from fdgcl.estimators import CCASSG
        >>> issubclass(CCASSG, ComparedMethod)
        True
        >>> model = CCASSG.preset("cora", hidden=8, dim=4, epochs=2)
        >>> model.fit_transform(block_model(20, seed=0)).shape
        (20, 4)
    """

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> Self:
        """Return a model with its authors' settings for a dataset, some overridden.

        Args:
            name: The dataset.
            overrides: Settings to use instead.

        Raises:
            InputError: The authors published none for it.
        """
        return cls(**{**published(cls.method_name, name), **overrides})


@cache
def estimator_of(method: str) -> type[Any]:
    """Return the estimator of a method.

    Raises:
        InputError: There is no method of that name; near ones are named.

    Example:
        >>> estimator_of("cca-ssg")(dim=8)
        CCASSG(dim=8)
    """
    if method == FDGCL.method_name:
        return FDGCL
    found = find_method(method)

    @takes(found.settings)
    def keep(self: GraphEmbedder) -> None:
        """Keep the settings; they are checked when fitting."""

    members: dict[str, Any] = {
        "__doc__": _summary(type(found)),
        "__init__": keep,
        "__module__": __name__,
        "method_name": method,
    }
    return type(_class_name(method), (ComparedMethod,), members)


def load_model(folder: str | Path, *, device: str | None = None) -> GraphEmbedder:
    """Read a model that a run left in a folder, whatever its method.

    Args:
        folder: The run folder.
        device: Where to compute; None for where it was trained.

    Raises:
        InputError: The folder holds no finished run.

    Example:
        >>> import tempfile
        >>> from fdgcl import FDGCL, block_model
        >>> graph = block_model(16, seed=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     FDGCL(dim=4, epochs=1).fit(graph).save(folder)
        ...     load_model(folder).transform(graph).shape
        (16, 4)
    """
    config = RunFolder(folder).read_config()
    model: GraphEmbedder = estimator_of(config.method).load(folder, device=device)
    return model


def _summary(kind: type) -> str:
    """What the method's file says of it, in the first line of its docstring."""
    return str(sys.modules[kind.__module__].__doc__).partition("\n")[0]


def _class_name(method: str) -> str:
    return METHODS[method].rpartition(":")[2].removesuffix("Method")


def __getattr__(name: str) -> Any:
    for method in METHODS:
        if method != FDGCL.method_name and name == _class_name(method):
            return estimator_of(method)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
