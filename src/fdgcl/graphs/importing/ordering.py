"""What is repeated among sorted numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def changes(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a sorted value differs from the one before; the first one does."""
    new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new
