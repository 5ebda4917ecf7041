"""How many columns of the features views are made of, and what stands beside them."""

from __future__ import annotations

from fdgcl.methods.fdgcl.batching import batch_rows
from fdgcl.methods.fdgcl.settings import Settings


def reduces_views(settings: Settings, nodes: int) -> bool:
    """Whether views are made of reduced features, as what is kept beside them is.

    Of all columns they are better. Batches are taken of diffused features, which are
    dense: wide ones, of as many nodes, would take too much.
    """
    if settings.reduce_views is not None:
        return settings.reduce_views
    return batch_rows(settings, nodes) is not None


def feature_columns(
    settings: Settings, columns: int, *, reduced_views: bool
) -> tuple[int, int]:
    """Columns that features are reduced to, and of those that views are made of.

    Args:
        settings: The model's.
        columns: Of the features as they came.
        reduced_views: Whether views are made of reduced features.

    Example:
        >>> settings = Settings(reduce=9, keep=("features",))
        >>> feature_columns(settings, 70, reduced_views=False)
        (9, 70)
        >>> feature_columns(Settings(reduce=9, keep=()), 70, reduced_views=False)
        (70, 70)
    """
    if not settings.keep and not reduced_views:
        return columns, columns
    reduced = settings.reduced(columns)
    return reduced, reduced if reduced_views else columns


def view_columns(settings: Settings, columns: int, nodes: int) -> int:
    """Columns of the features that views are made of, of so many."""
    decided = reduces_views(settings, nodes)
    return feature_columns(settings, columns, reduced_views=decided)[1]


def needs_reduction(settings: Settings, columns: int, nodes: int) -> bool:
    """Whether anything is made of fewer columns of features than there are."""
    decided = reduces_views(settings, nodes)
    return feature_columns(settings, columns, reduced_views=decided)[0] < columns
