"""What PyTorch Geometric's objects hold, as arrays: edges, labels, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError
from fdgcl.graphs.splits import Splits


def pyg_edges(data: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return the (2, E) `edge_index` and the weights, if there are any."""
    index = as_array(getattr(data, "edge_index", None))
    if index is None or index.ndim != 2 or index.shape[0] != 2:
        message = (
            "a PyTorch Geometric Data with an edge_index of shape (2, E) is expected, "
            f"got {type(data).__name__} without"
        )
        raise InputError(message)
    weights = as_array(getattr(data, "edge_weight", None))
    attribute = as_array(getattr(data, "edge_attr", None))
    if weights is None and attribute is not None and attribute.size == index.shape[1]:
        weights = attribute.ravel()
    return index, weights


def pyg_labels(data: Any) -> npt.NDArray[Any] | None:
    """Return `y`, one label per node, if there is one."""
    y = as_array(getattr(data, "y", None))
    return y[:, 0] if y is not None and y.ndim == 2 and y.shape[1] == 1 else y


def stacked(
    weights: list[npt.NDArray[Any] | None], edges: list[npt.NDArray[Any]]
) -> npt.NDArray[Any] | None:
    """Return the weights of all edges, 1 where a part has none; None without any."""
    if all(weight is None for weight in weights):
        return None
    return np.concatenate(
        [
            np.ones(index.shape[1], np.float32) if weight is None else weight
            for weight, index in zip(weights, edges, strict=True)
        ]
    )


def as_array(value: Any) -> npt.NDArray[Any] | None:
    """Return a tensor or anything alike as an array; None stays None."""
    if value is None:
        return None
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value)


def pyg_masks(data: Any) -> Splits | None:
    """Return the splits that the masks say, if there are any."""
    keys = ("train_mask", "val_mask", "test_mask")
    found = [as_array(getattr(data, key, None)) for key in keys]
    train, val, test = (None if mask is None else mask.T for mask in found)
    if train is None:
        return None
    empty = np.zeros_like(train, np.bool_)
    return Splits(
        train,
        empty if val is None else val,
        empty if test is None else test,
        "from the data",
    )
