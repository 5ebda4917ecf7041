"""A graph on disk, any part of which can be read without the rest."""

from fdgcl.graphs.store.arrays import DamagedError, StoredArray
from fdgcl.graphs.store.store import Manifest, Store

__all__ = ["DamagedError", "Manifest", "Store", "StoredArray"]
