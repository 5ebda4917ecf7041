"""The features of a store as two orders diffuse them, in slices of columns.

- `G/diffused/KEY/recipe.json`: what was asked for, and the polynomial's weights
- `G/diffused/KEY/lengths.npy`: of the features' rows, where these are scaled
- `G/diffused/KEY/directions.npy`: what features are reduced by, where they are
- `G/diffused/KEY/reduced/000.npy, ...`: the reduced features, some columns in each, if
  it is these that are diffused
- `G/diffused/KEY/0/000.npy, ...`: by the first order, some columns in each
- `G/diffused/KEY/1/000.npy, ...`: by the second
- `G/diffused/KEY/neighbours/000.npy, ...`: means over neighbours, if they are kept

KEY is a hash of the graph and of the settings that the result depends on. A slice is
done when all of its arrays are; which executor made it, and when, leaves no
trace in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl.graphs.feature_map import FeatureMap
from fdgcl.graphs.reduction import Reduction
from fdgcl.graphs.scaling import ROW_SCALINGS
from fdgcl.graphs.store.arrays import StoredArray, is_finished, write_array
from fdgcl.graphs.store.features import StoredFeatures, open_reduced, write_reduced
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.feature_columns import needs_reduction, reduces_views
from fdgcl.methods.fdgcl.kept_blocks import averages_edges
from fdgcl.methods.fdgcl.recipe import AVERAGE, FORMAT, Block, Recipe
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.preparation import chosen_scaling

#: The settings that diffused features depend on, beside the store's own direction.
DIFFUSION_SETTINGS = (
    "orders",
    "time",
    "step",
    "solver",
    "rate",
    "dynamics",
    "dynamics_options",
    "skip",
    "self_loops",
    "normalization",
    "window",
    "feature_scaling",
    "dtype",
)


@dataclass(frozen=True, eq=False)
class Diffusion:
    """One diffusion of a store's features: its folder, and what is in it by now."""

    store: Store
    folder: Path

    @classmethod
    def of(
        cls, store: Store, settings: Settings, columns: FeatureMap | None = None
    ) -> Self:
        """The diffusion by some settings, whether it is done or not.

        Args:
            store: The graph.
            settings: The model's.
            columns: What is done to the features, where a trained model says so.
        """
        chosen = as_chosen(store, settings, columns)
        text = store.fingerprint + json.dumps(wanted(store, chosen), sort_keys=True)
        if keeps_averages(store, settings):
            text += AVERAGE
        own = cls(store, _folder(store, text))
        fitted = "" if columns is None else columns.fingerprint
        # The store that a model was trained on is not diffused again for it.
        if not fitted or (own.is_begun and own.feature_map.fingerprint == fitted):
            return own
        return cls(store, _folder(store, text + fitted))

    @cached_property
    def recipe(self) -> Recipe:
        """What all tasks follow.

        Raises:
            InputError: The diffusion was not begun.
        """
        path = self.folder / "recipe.json"
        if not path.is_file():
            message = (
                f"the features of {self.store.folder} are not diffused by these "
                "settings yet: run `fdgcl diffuse` with them first"
            )
            raise InputError(message)
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            if value["format"] != FORMAT:
                raise ValueError
            return Recipe.from_dict(value)
        except (ValueError, KeyError, TypeError):
            message = f"{path} was not written by this version of fdgcl, or is damaged"
            raise InputError(message) from None

    @property
    def is_begun(self) -> bool:
        """Whether there is a recipe."""
        return (self.folder / "recipe.json").is_file()

    def begin(self, recipe: Recipe) -> None:
        """Write the recipe; where another process was first, its recipe stands."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "recipe.json"
        own = self.folder / f".recipe.{os.getpid()}.json"
        write_json(own, recipe.to_dict())
        try:
            os.link(own, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without such links
            own.replace(path)
        finally:
            own.unlink(missing_ok=True)
        self.__dict__.pop("recipe", None)

    def path(self, block: Block, number: int) -> Path:
        """The file of one order's slice, or of that of the means."""
        return self.folder / str(block) / f"{number:03}.npy"

    @property
    def lengths_path(self) -> Path:
        """The file with the lengths of the features' rows."""
        return self.folder / "lengths.npy"

    @property
    def _directions_path(self) -> Path:
        return self.folder / "directions.npy"

    @property
    def _is_reduced(self) -> bool:
        return "reduce" in self.recipe.settings

    @property
    def _diffuses_reduced(self) -> bool:
        return bool(self.recipe.settings.get("reduce_views"))

    @property
    def feature_map(self) -> FeatureMap:
        """What is done to the store's features before they are diffused."""
        recipe, reduction = self.recipe, None
        if self._is_reduced:
            array = StoredArray.open(self._directions_path)
            array.verify()
            reduction = Reduction(array.read(0, array.shape[0]), recipe.held)
        return FeatureMap(recipe.settings["feature_scaling"], recipe.scale, reduction)

    @property
    def kept_reduction(self) -> Reduction | None:
        """What is to be done to columns as they are diffused, to be those kept."""
        return None if self._diffuses_reduced else self.feature_map.reduction

    @property
    def features(self) -> StoredFeatures:
        """What is diffused."""
        recipe = self.recipe
        if self._diffuses_reduced:
            width = self.store.manifest.block_columns
            return open_reduced(self._reduced_folder, recipe.columns[-1], width)
        by_rows = recipe.settings["feature_scaling"] in ROW_SCALINGS
        lengths = StoredArray.open(self.lengths_path) if by_rows else None
        return StoredFeatures(self.store.features, recipe.scale, lengths)

    @property
    def _reduced_folder(self) -> Path:
        return self.folder / "reduced"

    def reduce(
        self, scaled: StoredFeatures, found: FeatureMap, *, of_views: bool
    ) -> StoredFeatures:
        """Keep what scaled features are reduced by; return those that are diffused.

        Args:
            scaled: The store's features.
            found: What is done to them.
            of_views: Whether it is the reduced ones.
        """
        if found.reduction is None:
            return scaled
        write_array(self._directions_path, found.reduction.directions)
        if not of_views:
            return scaled
        return write_reduced(scaled, found.reduction, self._reduced_folder)

    def has(self, number: int) -> bool:
        """Whether a slice is done, with all of its blocks."""
        blocks = self.recipe.blocks
        return all(is_finished(self.path(block, number)) for block in blocks)

    @property
    def missing(self) -> list[int]:
        """The slices that are left to do."""
        return [n for n in range(self.recipe.num_slices) if not self.has(n)]

    def array(self, block: Block, number: int) -> StoredArray:
        """One block's slice: (nodes, its columns)."""
        return StoredArray.open(self.path(block, number))

    def arrays(self, block: Block) -> list[StoredArray]:
        """All slices of a block."""
        return [self.array(block, n) for n in range(self.recipe.num_slices)]


class DiffusedRows:
    """Rows of finished diffused features, all columns of a block side by side.

    Raises:
        InputError: Some slices are not done.
    """

    def __init__(self, diffusion: Diffusion) -> None:
        missing = diffusion.missing
        if missing:
            count = diffusion.recipe.num_slices
            message = (
                f"{len(missing)} of {count} slices of {diffusion.folder} are not "
                "diffused yet: run `fdgcl diffuse` again, it goes on where it stopped"
            )
            raise InputError(message)
        recipe = diffusion.recipe
        self.num_rows = diffusion.store.manifest.nodes
        self.num_features = recipe.columns[-1]
        self.dtype = np.dtype(recipe.settings["dtype"])
        self._columns = [recipe.slice(n) for n in range(recipe.num_slices)]
        self._arrays = {block: diffusion.arrays(block) for block in recipe.blocks}

    def read(self, block: Block, start: int, stop: int, out: NDArray[Any]) -> None:
        """Fill (stop - start, features) with rows of an order, or of the means."""
        for columns, array in zip(self._columns, self._arrays[block], strict=True):
            out[:, columns] = array.read(start, stop)

    def verify(self) -> None:
        """Read everything.

        Raises:
            DamagedError: A part does not match its checksum.
        """
        for arrays in self._arrays.values():
            for array in arrays:
                array.verify()


def wanted(store: Store, settings: Settings) -> dict[str, Any]:
    """The settings that decide the result, as plain values."""
    known, names = settings.to_dict(), [*DIFFUSION_SETTINGS]
    sizes = store.num_features, store.manifest.nodes
    if needs_reduction(settings, *sizes):
        # Directions are mixed by the seed; nothing else of a diffusion is random.
        names += ["reduce", "reduce_views", "seed"]
        known["reduce_views"] = reduces_views(settings, sizes[1])
    return {name: known[name] for name in names}


def keeps_averages(store: Store, settings: Settings) -> bool:
    """Whether means over the store's neighbours are kept beside the orders."""
    return averages_edges(settings.keep, store.manifest.direction)


def as_chosen(
    store: Store, settings: Settings, columns: FeatureMap | None = None
) -> Settings:
    """Settings in which no scaling is left open.

    Args:
        store: The graph, which decides where no model has decided.
        settings: The model's.
        columns: What was done to the features of the graph it was trained on.
    """
    if columns is not None:
        return replace(settings, feature_scaling=columns.scaling)
    given = StoredFeatures(store.features)
    return chosen_scaling(store, given, settings, store.manifest.structural)[0]


def _folder(store: Store, text: str) -> Path:
    key = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return store.folder / "diffused" / key
