"""FDGCL: the estimator. Graph in, embedding out, no labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from fdgcl._bars import watched
from fdgcl._estimator import takes
from fdgcl._notices import notice
from fdgcl._progress import Progress
from fdgcl.embedder import GraphEmbedder
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.presets import preset_settings

if TYPE_CHECKING:
    from fdgcl.choosing.choice import Choice
    from fdgcl.graphs import Graph


class FDGCL(GraphEmbedder):
    """Embeddings without labels, by contrasting orders of diffusion.

    The defaults amplify no frequency on any graph and are meant for a graph nobody has
    seen; `FDGCL.preset(name)` gives the settings for a known dataset.

    Attributes:
        history_: One record an epoch.
        notices_: What was decided for the user.
        plan_: How the diffusion was done, and what it was expected to cost.
        stability_: What it does to each frequency; None where it is not linear.
        stability_notes_: The same in words.
        fit_seconds_: Seconds spent diffusing and training.
        choice_: What `choose` tried and took; only there after it.
    """

    method_name = "fdgcl"
    choice_: Choice

    @takes(Settings)
    def __init__(self) -> None:
        """Keep the settings; they are checked when fitting."""

    def check(self) -> Settings:
        """Check all settings and return them; bad ones raise `InputError`."""
        settings: Settings = super().check()
        return settings

    @property
    def part_columns_(self) -> tuple[int, ...]:
        """How many of the embedding's columns each of its parts has, in their order.

        Views come first, or their mixture, and then what is kept beside them. Where
        parts are compressed, training decides it.

        Example:
            >>> from fdgcl import FDGCL, block_model
            >>> model = FDGCL(dim=16, epochs=1).fit(block_model(60, num_features=9))
            >>> len(model.part_columns_), sum(model.part_columns_)
            (5, 16)
        """
        from fdgcl.methods.fdgcl.encoder import Encoders

        trained = self._fitted_model()
        assert isinstance(trained, Encoders)
        return trained.combination.compression.columns

    @classmethod
    def preset(cls, name: str, *, variant: str = "best", **overrides: Any) -> Self:
        """Return a model with the settings for a known dataset, some overridden.

        Args:
            name: The dataset.
            variant: `best` for ours, `paper` for the paper's method and settings.
            overrides: Settings to use instead.
        """
        return cls(**{**preset_settings(name, variant), **overrides})

    @classmethod
    def choose(
        cls,
        graph: Graph,
        labels: Any = None,
        *,
        memory: str | int | None = None,
        progress: bool | Progress | None = None,
        **settings: Any,
    ) -> Self:
        """Choose settings by a few labels, and return a model fitted by them.

        About two dozen settings of the same diffusion are tried: what is trained, and
        what stands in the embedding. A linear probe scores each on validation nodes;
        test nodes are erased before. The defaults stand unless others are better by
        more than the standard error of the difference.

        Args:
            graph: A graph in memory.
            labels: Class codes of the nodes, -1 for none, or `Targets`, as
                `read_labels` gives them; None for the graph's own. Where the graph has
                no splits, ten are drawn from the labelled nodes.
            memory: As of `fit`.
            progress: As of `fit`; the stages before are diffuse and try.
            settings: What all that is tried has in common.

        Raises:
            InputError: Labels, graph and settings do not fit together.

        Example:
            >>> from fdgcl import FDGCL, block_model
            >>> graph = block_model(60, signal=4.0, seed=0)
            >>> model = FDGCL.choose(graph, dim=16, epochs=1)
            >>> model.choice_.taken.name, model.transform(graph).shape
            ('defaults', (60, 16))
        """
        from fdgcl.choosing.choose import choose_settings, problem_of

        model = cls(**settings)
        given = {name: getattr(model, name) for name in settings}
        problem, told = problem_of(graph, labels)
        with watched(progress) as tell:
            choice = choose_settings(
                problem, given, told=told, memory=memory, progress=tell
            )
            notice(*choice.notices, choice.why)
            model = cls(**choice.settings)
            model.fit(graph, memory=memory, progress=tell)
        model.choice_ = choice
        model.notices_ = [*choice.notices, choice.why, *model.notices_]
        return model
