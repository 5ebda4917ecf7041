"""One embedding job: read, train once per seed, write, score, tell."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError, in_words
from fdgcl.cli.failures import interruption
from fdgcl.cli.level import Level, row_ids
from fdgcl.cli.record import write_record
from fdgcl.cli.row_labels import targets_of
from fdgcl.cli.run_folders import EMBEDDING, run_folder
from fdgcl.cli.scores import (
    Row,
    baselines,
    graph_baselines,
    need_graph_labels,
    score,
    score_graphs,
    score_table,
    with_splits,
)
from fdgcl.cli.source import Reading, Source, read_data, readings, summary
from fdgcl.cli.suggestions import Done, command, path_word, resumed
from fdgcl.cli.talk import Talk
from fdgcl.report.numerals import PLAIN

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl._bars import Bars
    from fdgcl.cli.source import Data
    from fdgcl.model import FDGCL
    from fdgcl.training import EpochRecord


@dataclass(frozen=True)
class Job:
    """What to embed and how; `run` does it, `plan` only tells.

    Attributes:
        source: Where the graph is.
        reading: How to read it.
        model: The model, its settings checked.
        talk: Where text goes.
        seeds: How often to train, with the model's seed and those after it.
        scored: Whether to score the embedding at the end.
        following: The command to suggest next; None for one that fits.
        level: What one row of the embedding stands for.
    """

    source: Source
    reading: Reading
    model: FDGCL
    talk: Talk
    seeds: int = 1
    scored: bool = False
    following: str | None = None
    level: Level = "node"

    def plan(self) -> None:
        """Tell what `run` would do; write nothing."""
        with self.talk.bars() as bars:
            graph = self._read(bars)
        plan = self.model.plan(graph)
        self.talk.notice(*self.model.notices_)
        for sentence in (*plan.describe(), *self.model.stability_notes_):
            self.talk.say(sentence)
        stability = self.model.stability_
        self.talk.say("dry run: nothing was trained, nothing written")
        self.talk.emit(
            {
                "graph": _about(graph),
                "plan": plan.to_dict(),
                "stability": stability.to_dict() if stability else None,
                "settings": self.model.get_params(),
                "notices": self.talk.notices,
            }
        )

    def run(
        self, folder: Path | None, output: Path | None, *, resume: bool, command: str
    ) -> None:
        """Do it all.

        Args:
            folder: The run folder; None for a new one.
            output: Where the embedding goes; None for the run folder.
            resume: Whether to go on with what is in the folder.
            command: What the user typed, to tell how to go on after an interruption.
        """
        with self.talk.bars() as bars:
            graph = self._read(bars)
            with run_folder(folder, self.source.name) as path:
                try:
                    runs = self._train(graph, path, bars, resume=resume)
                except KeyboardInterrupt:
                    raise interruption(_how_to_resume(path, command)) from None
                target = output or path / EMBEDDING
                _write(target, row_ids(graph, self.level), runs[0].embedding, path)
                remember = partial(
                    write_record,
                    path,
                    command=command,
                    source=self.source,
                    reading=self.reading,
                    embedding=target,
                    seconds=runs[0].seconds,
                    level=self.level,
                )
                # At once, so that a run that is stopped here knows its own file.
                remember(notices=self.talk.notices)
                rows = self._score(graph, runs, bars)
                if rows:
                    remember(
                        notices=self.talk.notices,
                        scores=[row.to_dict() for row in rows],
                        scored=_caption(graph, len(runs), rows[0]),
                    )
        self._tell(graph, runs, rows, target, path)

    def _read(self, bars: Bars) -> Data:
        from fdgcl.graphs import Graph

        with bars.waiting("read"):
            data = read_data(self.source, self.reading)
        self.talk.notice(summary(data), *readings(data))
        if self.scored and isinstance(data, Graph):
            data, lines = with_splits(data, self.reading.tables.task)
            self.talk.notice(*lines)
        elif self.scored:
            assert not isinstance(data, Graph)
            need_graph_labels(data)
        return data

    def _train(
        self, graph: Data, folder: Path, bars: Bars, *, resume: bool
    ) -> list[Trained]:
        runs = []
        for number in range(self.seeds):
            seed = self.model.get_params()["seed"] + number
            model = type(self.model)(**{**self.model.get_params(), "seed": seed})
            place = folder if number == 0 else folder / f"seed-{seed}"
            if self.seeds > 1:
                bars.part(f"seed {seed}")
            start = time.perf_counter()
            embedding = model.fit_transform(
                graph,
                level=self.level,
                run=place,
                resume=resume and place.is_dir(),
                progress=partial(self._progress, model, bars),
            )
            runs.append(Trained(model, embedding, time.perf_counter() - start))
            self.talk.notice(*model.notices_)
        bars.part("")
        return runs

    def _progress(
        self, model: FDGCL, bars: Bars, stage: str, done: int, total: int
    ) -> None:
        from fdgcl.fitting import tell_epoch

        # What was decided for the user is known by now, long before training ends.
        self.talk.notice(*model.notices_)
        if stage == "train":
            tell_epoch(bars, model.history_[-1], total)
        else:
            bars(stage, done, total)

    def _score(self, graph: Data, runs: Sequence[Trained], bars: Bars) -> list[Row]:
        from fdgcl.graphs import Graph

        if not self.scored:
            return []
        models = [run.model for run in runs]
        embeddings = (run.embedding for run in runs)
        if not isinstance(graph, Graph):
            row = score_graphs("trained embedding", embeddings, graph, bars)
            return [row, *graph_baselines(models, graph, bars)]
        device = models[0].check().torch_device
        trained = score("trained embedding", embeddings, graph, bars, device)
        return [trained, *baselines(models, graph, bars)]

    def _tell(
        self,
        graph: Data,
        runs: Sequence[Trained],
        rows: Sequence[Row],
        target: Path,
        folder: Path,
    ) -> None:
        count, dim = runs[0].embedding.shape
        facts = runs[0].facts()
        following = self.following or self._done(graph, target, folder, rows)
        self.talk.say(f"embedding  {target}  ({count:,} {self.level}s x {dim})")
        self.talk.say(f"run        {folder}")
        self.talk.say(f"training   {describe(facts)}")
        if rows:
            caption = _caption(graph, len(runs), rows[0])
            self.talk.show(score_table(rows, caption, _judge(graph)))
        self.talk.say(f"look       {command('report', path_word(folder))}")
        self.talk.say(f"next       {following}")
        self.talk.emit(
            {
                "embedding": str(target),
                "run": str(folder),
                f"{self.level}s": count,
                "dim": dim,
                **facts,
                "graph": _about(graph),
                "settings": runs[0].model.get_params(),
                "evaluation": [row.to_dict() for row in rows] or None,
                "notices": self.talk.notices,
                "next": following,
            }
        )

    def _done(
        self, graph: Data, target: Path, folder: Path, rows: Sequence[Row]
    ) -> str:
        from fdgcl.levels import as_graph, settings_for

        made = None
        if as_graph(graph).features is None:
            made = settings_for(graph, self.model.check()).structural
        done = Done(
            self.source,
            self.reading,
            graph,
            self.level,
            made,
            target,
            folder,
            scored=bool(rows),
        )
        return done.next_command()


@dataclass(frozen=True)
class Trained:
    """A trained model, its embedding of the graph, and how long both took."""

    model: FDGCL
    embedding: npt.NDArray[np.float32]
    seconds: float

    def facts(self) -> dict[str, Any]:
        """Return seconds, epochs, and loss and ranks of the last epoch."""
        return training_facts(self.model.history_, self.seconds)


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


def describe(facts: Mapping[str, Any]) -> str:
    """Return the facts of a training in a few words."""
    text = f"{facts['epochs']} epochs, {facts['seconds']:.1f} s"
    if facts["loss"] is not None:
        from fdgcl.training import count_ranks

        ranks = [facts[f"effective_rank_{n}"] for n in count_ranks(facts)]
        shown = in_words([f"{rank:.1f}" for rank in ranks])
        text += f"; loss {facts['loss']:.4f}, effective ranks of the views {shown}"
    return text


def _write(target: Path, ids: Any, embedding: Any, folder: Path) -> None:
    from fdgcl.embeddings import write_embeddings

    try:
        write_embeddings(target, ids, embedding)
    except InputError as error:
        message = f"{error}; the trained model is kept in {folder}"
        raise type(error)(message) from None


def _about(data: Data) -> dict[str, Any]:
    from fdgcl.graphs import Graph

    graph = data if isinstance(data, Graph) else data.graph
    return {
        "name": graph.name,
        "source": graph.source,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "splits": graph.splits.name if graph.splits is not None else None,
        **({} if isinstance(data, Graph) else {"graphs": len(data)}),
    }


def _judge(data: Data) -> str:
    from fdgcl.evaluation.tasks import judge_of
    from fdgcl.graphs import Graph

    targets = targets_of(data)
    assert targets is not None
    return judge_of(targets) if isinstance(data, Graph) else "SVM"


def _caption(graph: Data, seeds: int, row: Row) -> str:
    from fdgcl.graphs import Graph

    if not isinstance(graph, Graph):
        return (
            f"accuracy in %, mean ± standard deviation over {seeds} "
            f"training{'s'[: seeds > 1]} and 5 dealings of 10 folds; a support vector "
            "machine, every choice made inside the fold"
        )
    assert graph.splits is not None
    count = len(graph.splits)
    unit = "" if row.measure in PLAIN else " in %"
    return (
        f"{row.measure}{unit}, mean ± standard deviation over {seeds} "
        f"seed{'s'[: seeds > 1]} and {count} split{'s'[: count > 1]} "
        f"({graph.splits.name}); every choice is made on validation"
    )


def _how_to_resume(folder: Path, command: str) -> str:
    if not any(folder.iterdir()):
        return " before there was anything to keep"
    return f"; go on where it stopped with: {resumed(command, folder)}"
