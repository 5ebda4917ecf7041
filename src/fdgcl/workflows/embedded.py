"""What embedding a graph, or planning to, returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import in_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.diffusion.stability import StabilityReport
    from fdgcl.embedder import GraphEmbedder
    from fdgcl.planning import Plan
    from fdgcl.training import EpochRecord
    from fdgcl.workflows.reading import Reading
    from fdgcl.workflows.rows import Level
    from fdgcl.workflows.scores import ScoreTable
    from fdgcl.workflows.source import Data, Source


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model, its embedding of the graph, and how long both took."""

    model: GraphEmbedder
    embedding: npt.NDArray[np.float32]
    seconds: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """An embedding that was written.

    Attributes:
        embedding: The file it was written to; of a store, the folder of its parts.
        run: The run folder of the model.
        rows: How many there are.
        dim: Columns of the embedding.
        level: What a row stands for.
        seconds: What making it took.
        notices: What was read and decided.
        held: Ids and rows that are in memory; others are read when asked for.
    """

    embedding: Path
    run: Path
    rows: int
    dim: int
    level: Level
    seconds: float
    notices: tuple[str, ...] = ()
    held: tuple[npt.NDArray[Any], npt.NDArray[np.float32]] | None = field(
        default=None, repr=False
    )

    @cached_property
    def _table(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
        from fdgcl.embeddings import read_embeddings

        return self.held or read_embeddings(self.embedding)

    @property
    def ids(self) -> npt.NDArray[Any]:
        """(rows,) ids."""
        return self._table[0]

    @property
    def z(self) -> npt.NDArray[np.float32]:
        """(rows, dim) the embedding."""
        return self._table[1]


@dataclass(frozen=True, eq=False, kw_only=True)
class Embedded(Rows):
    """An embedding by a model that was trained for it.

    Attributes:
        model: The trained model, of the first seed; `seconds` are its training's.
        graph: What was embedded.
        source: Where that was.
        reading: How it was read.
        scores: Beside those of what needs no training, if they were asked for.
    """

    model: GraphEmbedder = field(repr=False)
    graph: Data = field(repr=False)
    source: Source = field(repr=False)
    reading: Reading = field(repr=False)
    scores: ScoreTable | None = None

    @property
    def epochs(self) -> int:
        """Passes over the nodes that were trained."""
        return len(self.model.history_)

    @property
    def facts(self) -> dict[str, Any]:
        """Seconds, epochs, and loss and ranks of the last epoch."""
        return training_facts(self.model.history_, self.seconds)

    @property
    def made_features(self) -> str | None:
        """The kind of features made from the edges; None for the graph's own."""
        from fdgcl.graphs.store.store import Store
        from fdgcl.levels import as_graph, settings_for

        if isinstance(self.graph, Store):
            return self.graph.manifest.structural
        if as_graph(self.graph).features is not None:
            return None
        made: str = settings_for(self.graph, self.model.check()).structural
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return paths, sizes, settings and scores, ready for JSON."""
        rows = None if self.scores is None else self.scores.rows
        return {
            "embedding": str(self.embedding),
            "run": str(self.run),
            "method": self.model.method_name,
            f"{self.level}s": self.rows,
            "dim": self.dim,
            **self.facts,
            "graph": about_graph(self.graph),
            "settings": self.model.get_params(),
            "evaluation": None if rows is None else [row.to_dict() for row in rows],
            "notices": list(self.notices),
        }


@dataclass(frozen=True, eq=False)
class EmbeddingPlan:
    """What embedding a graph would do, and take.

    Attributes:
        graph: What was read.
        plan: How features would be diffused: time and memory.
        stability: What that does to each frequency; None where it is not linear.
        stability_notes: The same in words.
        settings: Of the model.
        notices: What was read and decided.
    """

    graph: Data = field(repr=False)
    plan: Plan
    stability: StabilityReport | None
    stability_notes: tuple[str, ...]
    settings: Mapping[str, Any] = field(repr=False)
    notices: tuple[str, ...] = ()

    def describe(self) -> list[str]:
        """Return the plan in sentences."""
        return [*self.plan.describe(), *self.stability_notes]

    def to_dict(self) -> dict[str, Any]:
        """Return sizes, costs and settings, ready for JSON."""
        return {
            "graph": about_graph(self.graph),
            "plan": self.plan.to_dict(),
            "stability": self.stability.to_dict() if self.stability else None,
            "settings": dict(self.settings),
            "notices": list(self.notices),
        }


def about_graph(data: Data) -> dict[str, Any]:
    """Return name and sizes of a graph, or of graphs, ready for JSON."""
    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.store.store import Store

    graph = data.graph if isinstance(data, GraphDataset) else data
    splits = None if isinstance(graph, Store) else graph.splits
    return {
        "name": graph.name,
        "source": graph.source,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "splits": None if splits is None else splits.name,
        **({"graphs": len(data)} if isinstance(data, GraphDataset) else {}),
    }


def training_facts(history: Sequence[EpochRecord], seconds: float) -> dict[str, Any]:
    """Return seconds, epochs, and loss and ranks of the last epoch, if there is one."""
    from fdgcl.training import named_ranks

    facts: dict[str, Any] = {
        "seconds": round(seconds, 3),
        "epochs": len(history),
        "loss": None,
    }
    if not history:
        return facts
    last = history[-1]
    return {**facts, "loss": last.loss, **named_ranks(last.effective_ranks)}


def describe_training(facts: Mapping[str, Any]) -> str:
    """Return the facts of a training in a few words."""
    text = f"{facts['epochs']} epochs, {facts['seconds']:.1f} s"
    if facts["loss"] is not None:
        from fdgcl.training import count_ranks

        ranks = [facts[f"effective_rank_{n}"] for n in count_ranks(facts)]
        shown = in_words([f"{rank:.1f}" for rank in ranks])
        text += f"; loss {facts['loss']:.4f}, effective ranks of the views {shown}"
    return text
