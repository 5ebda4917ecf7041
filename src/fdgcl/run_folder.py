"""A run folder: what a fit leaves behind, and what it needs to go on.

`config.json` holds settings and what the features looked like, `model.safetensors` the
finished weights, `metrics.jsonl` one line an epoch. While a run is under way
`checkpoint.safetensors` holds weights, optimiser state and history of one epoch.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from torch.optim import Optimizer

from fdgcl._checks import InputError
from fdgcl._files import atomic_path, explain, write_json
from fdgcl._tensors import opened_tensors, read_tensors, write_tensors
from fdgcl._version import __version__
from fdgcl.methods.fdgcl import Encoders, ViewSource
from fdgcl.methods.fdgcl.preparation import Preparation
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.training import EpochRecord, ProcessGroup, SingleProcess, warn_of_collapse

FORMAT = "fdgcl-run-3"
CHECKPOINT_SECONDS = 20.0


@dataclass(frozen=True)
class Config:
    """What `config.json` says.

    Attributes:
        settings: The model's settings.
        schema: What the features looked like.
        graph: Name, sizes and fingerprint of the graph it was fitted on.
        decisions: What the settings left open and the graph decided.
    """

    settings: Settings
    schema: dict[str, Any]
    graph: dict[str, Any]
    decisions: dict[str, Any]

    @classmethod
    def of(cls, prepared: Preparation) -> Self:
        """What is to be said of a graph as it was prepared."""
        return cls(
            prepared.settings,
            schema=prepared.schema(),
            graph=prepared.describe_graph(),
            decisions=prepared.decisions(),
        )

    @property
    def num_features(self) -> int:
        """Columns of the features it was fitted on."""
        return int(self.schema["num_features"])

    @property
    def num_relations(self) -> int:
        """How many times they stand side by side once diffused: by each edge type."""
        return len(self.schema["relations"] or [None])


class RunFolder:
    """The files of one run."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.config = self.folder / "config.json"
        self.model = self.folder / "model.safetensors"
        self.metrics = self.folder / "metrics.jsonl"
        self.checkpoint = self.folder / "checkpoint.safetensors"

    @property
    def is_finished(self) -> bool:
        """Whether the run came to its end."""
        return self.model.is_file()

    def begin(self, config: Config, *, resume: bool) -> None:
        """Start a run here, or make sure that the one here is this one."""
        if not resume:
            if self.config.exists():
                message = (
                    f"{self.folder} holds a run already: resume it or name another"
                )
                raise InputError(message)
            self.write_config(config)
            return
        found = self.read_config()
        if found.graph["fingerprint"] != config.graph["fingerprint"]:
            message = f"the run in {self.folder} was started on another graph"
            raise InputError(message)
        ours, theirs = config.settings.to_dict(), found.settings.to_dict()
        changed = [name for name in ours if ours[name] != theirs[name]]
        if changed:
            name = changed[0]
            message = (
                f"the run in {self.folder} was started with {name}={theirs[name]!r}, "
                f"not {ours[name]!r}"
            )
            raise InputError(message)

    def write_config(self, config: Config) -> None:
        """Write `config.json`."""
        value = {
            "format": FORMAT,
            "fdgcl": __version__,
            "settings": config.settings.to_dict(),
            "schema": config.schema,
            "graph": config.graph,
            "decisions": config.decisions,
        }
        write_json(self.config, value)

    def read_config(self) -> Config:
        """Read and check `config.json`."""
        if not self.config.is_file():
            message = f"{self.folder} is not a run folder: it has no config.json"
            raise InputError(message)
        try:
            value = json.loads(self.config.read_text(encoding="utf-8"))
            if value["format"] != FORMAT:
                raise ValueError
            settings = dict(value["settings"])
            rest = [dict(value[key]) for key in ("schema", "graph", "decisions")]
            if not _is_whole(*rest):
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            message = (
                f"{self.config} was not written by this version of fdgcl, or is damaged"
            )
            raise InputError(message) from None
        return Config(Settings.from_dict(settings, str(self.config)), *rest)

    def write_model(self, views: Encoders) -> None:
        """Write the finished weights; the checkpoint has then served."""
        write_tensors(self.model, views.state_dict(), {"format": FORMAT})
        self.checkpoint.unlink(missing_ok=True)

    def read_finished(self) -> Config:
        """Read `config.json` of a run whose finished weights are of these sizes.

        Raises:
            InputError: They are not: nobody takes memory for them.
        """
        config = self.read_config()
        with opened_tensors(self.model) as stream:
            shapes = [stream.get_slice(name).get_shape() for name in stream.keys()]  # noqa: SIM118
        wanted = {config.settings.dim, config.num_features * config.num_relations}
        if not wanted <= {size for shape in shapes for size in shape}:
            raise _misfit(self.model)
        return config

    def read_model(self, views: Encoders) -> None:
        """Load the finished weights into views of the right sizes."""
        tensors, _ = read_tensors(self.model, FORMAT)
        for name, tensor in tensors.items():
            if not torch.isfinite(tensor).all():
                message = (
                    f"{self.model} is damaged: {name} has values that are not finite"
                )
                raise InputError(message)
        _load(views, tensors, self.model)

    def write_checkpoint(
        self, views: Encoders, optimizer: Optimizer, history: Sequence[EpochRecord]
    ) -> None:
        """Write all that is needed to go on after the last epoch of the history."""
        tensors = dict(views.state_dict())
        for index, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"optimizer.{index}.{name}"] = torch.as_tensor(value)
        records = json.dumps([record.to_dict() for record in history])
        write_tensors(self.checkpoint, tensors, {"format": FORMAT, "history": records})

    def read_checkpoint(
        self, views: Encoders, optimizer: Optimizer
    ) -> list[EpochRecord]:
        """Load a checkpoint into views and optimiser; return the history so far."""
        if not self.checkpoint.is_file():
            return []
        tensors, metadata = read_tensors(self.checkpoint, FORMAT)
        state: dict[int, dict[str, Tensor]] = {}
        try:
            for key in [key for key in tensors if key.startswith("optimizer.")]:
                _, index, name = key.split(".")
                state.setdefault(int(index), {})[name] = tensors.pop(key)
            history = [_epoch(entry) for entry in json.loads(metadata["history"])]
        except (ValueError, KeyError, TypeError, RecursionError):
            message = f"{self.checkpoint} was not written by fdgcl, or is damaged"
            raise InputError(message) from None
        _load(views, tensors, self.checkpoint)
        _check_optimizer(optimizer, state, self.checkpoint)
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": state, "param_groups": groups})
        return history

    def write_metrics(self, history: Sequence[EpochRecord]) -> None:
        """Write all of `metrics.jsonl`."""
        with atomic_path(self.metrics) as temporary:
            lines = (json.dumps(record.to_dict()) + "\n" for record in history)
            temporary.write_text("".join(lines), encoding="utf-8")

    def append_metrics(self, record: EpochRecord) -> None:
        """Add one line to `metrics.jsonl`."""
        try:
            with self.metrics.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record.to_dict()) + "\n")
        except OSError as error:
            raise explain(error, self.metrics) from error

    def read_metrics(self) -> list[EpochRecord]:
        """Read `metrics.jsonl`; a folder without one has no history."""
        if not self.metrics.is_file():
            return []
        try:
            lines = self.metrics.read_text(encoding="utf-8").splitlines()
            return [_epoch(json.loads(line)) for line in lines if line]
        except (ValueError, TypeError, RecursionError):
            message = f"{self.metrics} is damaged"
            raise InputError(message) from None


class TrainingLog:
    """The history of a run, kept on disk as it grows where there is a folder.

    All of a group read the folder, the first of them writes it.

    Args:
        files: The folder.
        views: What is trained.
        optimizer: Of their weights.
        group: Who train together.
        checkpoint_seconds: Between two checkpoints, at least; 0 for one every epoch.
        explained: Whether features are the reason where views have few directions, so
            that training is not to blame.
    """

    def __init__(
        self,
        files: RunFolder | None,
        views: Encoders,
        optimizer: Optimizer,
        *,
        group: ProcessGroup | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
        explained: bool = False,
    ) -> None:
        self._views, self.optimizer = views, optimizer
        self._group, self._seconds = group or SingleProcess(), checkpoint_seconds
        self._saved = time.perf_counter()
        # Who does not write does not warn.
        self._collapsed = explained or not self._group.is_first
        self.history: list[EpochRecord] = []
        if files is not None:
            self.history = files.read_checkpoint(views, optimizer)
        self._files = files if self._group.is_first else None
        if self._files is not None:
            self._files.write_metrics(self.history)

    @contextmanager
    def epoch(self, record: EpochRecord) -> Iterator[None]:
        """Log an epoch; if the block inside is interrupted, save a checkpoint first.

        Between two epochs the state is whole; a checkpoint from any other moment
        would not go on as an uninterrupted run does.
        """
        self.history.append(record)
        self._collapsed = self._collapsed or warn_of_collapse(record)
        if self._files is not None:
            self._files.append_metrics(record)
        try:
            yield
        except KeyboardInterrupt:
            self._save()
            raise
        if time.perf_counter() - self._saved > self._seconds:
            self._save()
        # No one begins an epoch that would be lost with the first of them.
        self._group.barrier()

    def finish(self, source: ViewSource) -> None:
        """Freeze the views' statistics and keep the finished weights."""
        self._views.freeze_statistics(source)
        if self._files is not None:
            self._files.write_model(self._views)
        self._group.barrier()

    def _save(self) -> None:
        if self._files is not None:
            self._files.write_checkpoint(self._views, self.optimizer, self.history)
        self._saved = time.perf_counter()


def _is_whole(
    schema: dict[str, Any], graph: dict[str, Any], decisions: dict[str, Any]
) -> bool:
    """Whether all that is read of a config later is there, and of its type."""
    features, relations = schema["num_features"], schema["relations"]
    kinds = (
        (graph["fingerprint"], str),
        (schema["adjacency"], str),
        (schema["structural"], str | None),
        (schema["table"], dict | None),
        (relations, list | None),
        (features, int),
    )
    return (
        all(isinstance(value, kind) for value, kind in kinds)
        and features > 0
        and _are_weights(decisions["beta"])
        and all(isinstance(name, str) for name in relations or ())
    )


def _are_weights(beta: Any) -> bool:
    """Whether it is the weight of a view, or are those of all."""
    each = beta if isinstance(beta, list) else [beta]
    numbers = all(isinstance(one, int | float) and 0 <= one <= 1 for one in each)
    return numbers and (beta is not each or sum(each) > 0)


def _epoch(entry: Any) -> EpochRecord:
    if not isinstance(entry, dict):
        raise TypeError
    record = EpochRecord.from_dict(entry)
    if record.to_dict().keys() != entry.keys() or not record.effective_ranks:
        raise ValueError
    if not all(isinstance(value, int | float) for value in record.to_dict().values()):
        raise ValueError
    return record


def _check_optimizer(
    optimizer: Optimizer, state: dict[int, dict[str, Tensor]], path: Path
) -> None:
    """See that what is known of each weight is as large as the weight."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    whole = sorted(state) == list(range(len(weights))) or not state
    for index, found in state.items():
        whole = whole and all(
            value.shape == (weights[index].shape if name != "step" else ())
            for name, value in found.items()
        )
    if not whole:
        raise _misfit(path)


def _load(views: Encoders, tensors: dict[str, Tensor], path: Path) -> None:
    try:
        views.load_state_dict(tensors)
    except RuntimeError:
        raise _misfit(path) from None


def _misfit(path: Path) -> InputError:
    return InputError(f"{path} does not fit the settings in config.json beside it")
