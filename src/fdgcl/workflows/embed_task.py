"""What to embed and as what: refused where it does not fit, then read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError, check_count, check_seed
from fdgcl.workflows.feedback import Feedback
from fdgcl.workflows.models import Start
from fdgcl.workflows.reading import Reading
from fdgcl.workflows.rows import Level, find_level, refuse_scores_of_nodes
from fdgcl.workflows.source import (
    Source,
    find_source,
    need_labels,
    read_data,
    readings,
    refuse_files,
    summary,
)

if TYPE_CHECKING:
    from fdgcl.embedder import GraphEmbedder
    from fdgcl.workflows.source import Data


@dataclass(frozen=True)
class EmbeddingTask:
    """What to embed, as what, and whether to score it.

    Attributes:
        source: Where the graph is.
        reading: How to read it.
        level: What a row of the embedding stands for.
        scored: Whether the embedding is to be scored.
        seeds: How often to train.
        memory: Bound on what training may hold.
    """

    source: Source
    reading: Reading
    level: Level
    scored: bool
    seeds: int
    memory: int | str | None

    @classmethod
    def of(
        cls,
        graph: str | Path | Data,
        reading: Reading,
        level: str | None,
        seeds: int,
        *,
        evaluate: bool,
        memory: int | str | None = None,
    ) -> EmbeddingTask:
        """Refuse what does not fit together, before anything is read."""
        source = find_source(graph)
        reading.check()
        refuse_files(source, reading)
        chosen = find_level(source, reading, level)
        if source.is_store and (evaluate or seeds > 1):
            asked = "`evaluate`" if evaluate else f"`seeds` {seeds}"
            message = (
                f"{asked} needs the graph in memory, and {source.path} is a store: "
                "embed it, then run `fdgcl evaluate` with a file of labels"
            )
            raise InputError(message)
        if evaluate:
            need_labels(source, reading)
            refuse_scores_of_nodes(source, reading, chosen)
        seeds = check_count("`seeds`", seeds)
        return cls(source, reading, chosen, evaluate, seeds, memory)

    def model(
        self, start: Start, settings: Mapping[str, Any] | None, told: Feedback
    ) -> GraphEmbedder:
        """The model of the first training; those after it have the next seeds."""
        model = start.model(self.source, settings, self.reading.made, told)
        check_seed("the last of the seeds", model.seed + self.seeds - 1)
        return model

    def read(self, told: Feedback) -> Data:
        """Read the graph, or graphs, with what scoring needs."""
        from fdgcl.graphs import Graph, GraphDataset
        from fdgcl.workflows.scores import need_graph_labels, with_splits

        with told.bars.waiting("read"):
            data = read_data(self.source, self.reading)
        told.notice(summary(data), *readings(data))
        if not self.scored:
            return data
        if isinstance(data, Graph):
            data, lines = with_splits(data, self.reading.tables.task)
            told.notice(*lines)
        elif isinstance(data, GraphDataset):
            need_graph_labels(data)
        return data
