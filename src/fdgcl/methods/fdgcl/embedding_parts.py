"""What an embedding is made of: its blocks' columns, before and after compression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fdgcl.methods.fdgcl.principal_directions import fitting_bytes

if TYPE_CHECKING:
    from fdgcl.methods.base import Config
    from fdgcl.methods.fdgcl.settings import Settings


@dataclass(frozen=True)
class Parts:
    """The blocks of an embedding: a view, several, or their sum, and those kept.

    How many columns of a compressed embedding each block has is known once it is
    trained, by `Compression.columns`.

    Attributes:
        widths: Columns of each block as it is made.
        dim: Columns that the embedding may have.

    Example:
        >>> found = Parts((512, 1433), 1024)
        >>> found.made, found.width, found.is_compressed
        (1945, 1024, True)
    """

    widths: tuple[int, ...]
    dim: int

    @classmethod
    def of(
        cls,
        settings: Settings,
        beta: float | Sequence[float] | None,
        num_features: int,
        relations: int = 1,
        kept: Sequence[str] | None = None,
    ) -> Self:
        """The blocks by a model's settings.

        Args:
            settings: The model's.
            beta: Weight of the first view, or weights of all; None where that is not
                known yet, and every view may have one.
            num_features: Columns of the features, before they are reduced.
            relations: How many times these stand side by side once diffused.
            kept: The blocks beside the views; None for those that the settings name.

        Example:
            >>> from fdgcl.methods.fdgcl.settings import Settings
            >>> settings = Settings(hidden=256, dim=512, keep=("features",))
            >>> Parts.of(settings, 0.5, 1433)
            Parts(widths=(256, 256, 1024), dim=512)
        """
        views = [settings.hidden_columns] * count_views(settings, beta)
        names = settings.keep if kept is None else kept
        columns = settings.reduced(num_features)
        blocks = [columns * (1 if name == "features" else relations) for name in names]
        return cls((*views, *blocks), settings.dim)

    @classmethod
    def of_run(cls, config: Config) -> Self:
        """The blocks of a run: by its settings, and what its graph decided."""
        return cls.of(
            config.settings,
            config.decisions["beta"],
            config.num_features,
            config.num_relations,
            config.decisions["kept"],
        )

    @property
    def made(self) -> int:
        """Columns of all blocks as they are made."""
        return sum(self.widths)

    @property
    def width(self) -> int:
        """Columns of the embedding."""
        return min(self.made, self.dim)

    @property
    def is_compressed(self) -> bool:
        """Whether the embedding has fewer columns than its blocks."""
        return self.width < self.made

    @property
    def fitting_bytes(self) -> int:
        """Memory that the search for directions takes beside the rows, about."""
        return fitting_bytes(self.widths, self.dim)

    @property
    def directions(self) -> int:
        """Numbers that the model keeps of directions, at most: all the widest one's."""
        return max(self.widths) * self.dim if self.is_compressed else 0

    def notices(self) -> list[str]:
        """What to tell of compression, if there is any.

        Example:
            >>> Parts((512, 1433), 1024).notices()[0][:50]
            'the parts of the embedding have 1,945 columns; the'
        """
        if not self.is_compressed:
            return []
        return [
            f"the parts of the embedding have {self.made:,} columns; these are "
            f"compressed by PCA, to {self.width:,} in all: the directions that vary "
            "most"
        ]


def count_views(settings: Settings, beta: float | Sequence[float] | None) -> int:
    """Blocks that views are: one if they are mixed, else those with a weight.

    Args:
        settings: The model's.
        beta: As in `Parts.of`.

    Example:
        >>> from fdgcl.methods.fdgcl.settings import Settings
        >>> settings = Settings(combine="concat")
        >>> count_views(settings, None), count_views(settings, 1.0)
        (2, 1)
    """
    from fdgcl.methods.fdgcl.combination import view_weights

    if settings.combine != "concat":
        return 1
    count = len(settings.orders)
    weights = view_weights(0.5 if beta is None else beta, count)
    return sum(weight > 0 for weight in weights)
