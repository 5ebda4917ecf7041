"""Training, validation and test nodes: masks, one row per split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError, check_count, check_fraction
from fdgcl.graphs.targets import has_label

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Splits:
    """Train, validation and test nodes of one or several splits.

    Attributes:
        train: (S, N) masks; a single mask (N,) is taken as (1, N). Never empty.
        val: (S, N) masks.
        test: (S, N) masks; no node is in two of the three.
        name: What the splits are: "public", "random 10/10/80, seed 0".

    Example:
        >>> from fdgcl import Splits
        >>> Splits(train=[1, 1, 0, 0], val=[0, 0, 1, 0], test=[0, 0, 0, 1])
        Splits('given': 1 x 2/1/1)
    """

    train: Mask
    val: Mask
    test: Mask
    name: str = "given"

    def __post_init__(self) -> None:
        for part in ("train", "val", "test"):
            object.__setattr__(self, part, _mask(part, getattr(self, part)))
        if not self.train.shape == self.val.shape == self.test.shape:
            message = (
                "the masks of a split must have one shape, got train "
                f"{self.train.shape}, val {self.val.shape}, test {self.test.shape}"
            )
            raise InputError(message)
        together = self.train.astype(np.int8) + self.val + self.test
        if (together > 1).any():
            row, node = np.argwhere(together > 1)[0]
            message = (
                "train, val and test must be disjoint, but node "
                f"{node} (counted from 0) is in two of them in split {row}"
            )
            raise InputError(message)
        if len(self.train) == 0 or not self.train.any(axis=1).all():
            message = "every split needs at least one training node, got none"
            raise InputError(message)

    def __len__(self) -> int:
        return len(self.train)

    def first(self, count: int) -> Splits:
        """Return the first `count` of them; 0, or more than there are, for all.

        Example:
            >>> from fdgcl.graphs import random_splits
            >>> random_splits([0, 1] * 50, train=0.1, val=0.1).first(2)
            Splits('random 10/10/80, seed 0': 2 x 10/10/80)
        """
        kept = check_count("splits", count, minimum=0) or len(self)
        return Splits(self.train[:kept], self.val[:kept], self.test[:kept], self.name)

    def __repr__(self) -> str:
        sizes = "/".join(str(m[0].sum()) for m in (self.train, self.val, self.test))
        return f"Splits({self.name!r}: {len(self)} x {sizes})"


def random_splits(
    y: Any,
    *,
    train: float,
    val: float,
    test: float | None = None,
    count: int = 10,
    seed: int = 0,
    stratified: bool = False,
) -> Splits:
    """Draw splits of the labelled nodes, each node with the same chance.

    Split k depends on `seed` and k alone, so more splits leave the first ones as
    they are.

    Args:
        y: (N,) class codes, a negative one for no label; or (N,) values, NaN for
            none; or an (N, L) matrix of 0 and 1, rows of -1 for none. Nodes without a
            label are left out.
        train: Fraction of the labelled nodes; at least one node.
        val: Fraction of the labelled nodes.
        test: Fraction of the labelled nodes; by default all that are left.
        count: Number of splits.
        seed: Seed of the draw.
        stratified: Whether each class is split by these fractions on its own, so that
            rare ones are in every part.

    Example:
        >>> from fdgcl.graphs import random_splits
        >>> random_splits([0, 1] * 50, train=0.1, val=0.1, count=3)
        Splits('random 10/10/80, seed 0': 3 x 10/10/80)
    """
    rest = 1.0 - check_fraction("train", train) - check_fraction("val", val)
    fraction = rest if test is None else check_fraction("test", test)
    if fraction > rest + 1e-9:
        message = (
            "train, val and test must add up to at most 1, got "
            f"{train:g} + {val:g} + {fraction:g}"
        )
        raise InputError(message)
    codes = np.asarray(y)
    labelled = np.flatnonzero(has_label(codes))
    if stratified and (codes.ndim != 1 or codes.dtype.kind not in "iu"):
        message = (
            f"stratified splits need class codes, got {codes.dtype} of shape "
            f"{codes.shape}"
        )
        raise InputError(message)
    first = max(round(train * len(labelled)), 1 if train > 0 else 0)
    second = first + round(val * len(labelled))
    last = len(labelled)
    if test is not None and fraction < rest - 1e-9:
        last = min(last, second + round(fraction * len(labelled)))
    if not 0 < first <= len(labelled) or second > len(labelled):
        message = (
            f"train {train:g} and val {val:g} of {len(labelled)} labelled nodes leave "
            "a split without training nodes"
        )
        raise InputError(message)
    masks = np.zeros((3, check_count("count", count), len(codes)), np.bool_)
    for row in range(count):
        order = np.random.default_rng((seed, row)).permutation(labelled)
        if stratified:
            order = _by_class(order, codes[order])
        masks[0, row, order[:first]] = True
        masks[1, row, order[first:second]] = True
        masks[2, row, order[second:last]] = True
    sizes = "/".join(f"{100 * share:.3g}" for share in (train, val, max(fraction, 0.0)))
    kind = "stratified" if stratified else "random"
    return Splits(masks[0], masks[1], masks[2], f"{kind} {sizes}, seed {seed}")


def _by_class(
    order: npt.NDArray[np.int64], codes: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Reorder nodes so that any first part has its share of every class."""
    place = np.empty(len(order))
    for code in np.unique(codes):
        members = codes == code
        place[members] = (np.arange(members.sum()) + 0.5) / members.sum()
    return order[np.argsort(place, kind="stable")]


def per_class_split(
    y: Any, *, per_class: int = 20, val: int = 500, test: int = 1000, seed: int = 0
) -> Splits:
    """Draw one split like Planetoid's: a fixed number of training nodes per class.

    Args:
        y: (N,) class codes; a negative code is no label, and such nodes are left out.
        per_class: Training nodes of each class.
        val: Validation nodes, drawn from what is left.
        test: Test nodes, drawn from what is left.
        seed: Seed of the draw.

    Raises:
        InputError: A class, or what is left of all of them, is too small.

    Example:
        >>> from fdgcl.graphs import per_class_split
        >>> per_class_split([0, 1] * 50, per_class=5, val=20, test=40)
        Splits('5 per class / 20 / 40, seed 0': 1 x 10/20/40)
    """
    check_count("per_class", per_class)
    check_count("val", val, minimum=0)
    check_count("test", test, minimum=0)
    codes = np.asarray(y)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(codes >= 0))
    chosen = []
    for code in np.unique(codes[order]):
        members = order[codes[order] == code]
        if len(members) < per_class:
            message = (
                f"per_class is {per_class}, but class {code} has only {len(members)} "
                "labelled nodes"
            )
            raise InputError(message)
        chosen.append(members[:per_class])
    train = np.isin(order, np.concatenate(chosen)) if chosen else order != order
    left = order[~train]
    if len(left) < val + test:
        message = (
            f"val and test ask for {val} + {test} nodes, but only {len(left)} labelled "
            "nodes are left after training nodes were taken"
        )
        raise InputError(message)
    masks = np.zeros((3, 1, len(codes)), np.bool_)
    masks[0, 0, order[train]] = True
    masks[1, 0, left[:val]] = True
    masks[2, 0, left[val : val + test]] = True
    name = f"{per_class} per class / {val} / {test}, seed {seed}"
    return Splits(masks[0], masks[1], masks[2], name)


def _mask(part: str, values: Any) -> Mask:
    mask = np.atleast_2d(np.asarray(values))
    if mask.ndim != 2 or (mask.dtype != np.bool_ and not np.isin(mask, (0, 1)).all()):
        message = (
            f"the {part} mask must be true or false, (N,) or (splits, N), got "
            f"{mask.dtype} of shape {mask.shape}"
        )
        raise InputError(message)
    view = mask.astype(np.bool_, copy=False).view()
    view.flags.writeable = False
    return view
