"""A run folder: what training leaves behind, and what it needs to go on.

`config.json` holds settings and what the features looked like, `model.safetensors` the
finished weights, `metrics.jsonl` one line an epoch. While a run is under way
`checkpoint.safetensors` holds weights, optimiser state and history of one epoch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from fdgcl._checks import InputError
from fdgcl._files import atomic_path, explain, write_json
from fdgcl._tensors import opened_tensors, read_tensors, write_tensors
from fdgcl._version import __version__
from fdgcl.methods import METHODS, find_method
from fdgcl.methods.base import Config
from fdgcl.training.records import EpochRecord

FORMAT = "fdgcl-run-4"


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
        if found.method != config.method:
            message = (
                f"the run in {self.folder} was started with method {found.method!r}, "
                f"not {config.method!r}"
            )
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
            "method": config.method,
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
            name, settings = value["method"], dict(value["settings"])
            rest = [dict(value[key]) for key in ("schema", "graph", "decisions")]
            if name not in METHODS or not _is_whole(*rest[:2]):
                raise ValueError
            method = find_method(name)
            if not method.check_decisions(rest[2]):
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            message = (
                f"{self.config} was not written by this version of fdgcl, or is damaged"
            )
            raise InputError(message) from None
        found = method.settings.from_dict(settings, str(self.config))
        return Config(name, found, *rest)

    def write_model(self, model: nn.Module) -> None:
        """Write the finished weights; the checkpoint has then served."""
        write_tensors(self.model, model.state_dict(), {"format": FORMAT})
        self.checkpoint.unlink(missing_ok=True)

    def read_finished(self) -> Config:
        """Read `config.json` of a run whose finished weights are of these sizes.

        Raises:
            InputError: They are not: nobody takes memory for them.
        """
        config = self.read_config()
        with opened_tensors(self.model) as stream:
            shapes = [stream.get_slice(name).get_shape() for name in stream.keys()]  # noqa: SIM118
        wanted = find_method(config.method).sizes(config)
        if not wanted <= {size for shape in shapes for size in shape}:
            raise _misfit(self.model)
        return config

    def read_model(self, model: nn.Module) -> None:
        """Load the finished weights into a model of the right sizes."""
        tensors, _ = read_tensors(self.model, FORMAT)
        for name, tensor in tensors.items():
            if not torch.isfinite(tensor).all():
                message = (
                    f"{self.model} is damaged: {name} has values that are not finite"
                )
                raise InputError(message)
        _load(model, tensors, self.model)

    def write_checkpoint(
        self, model: nn.Module, optimizer: Optimizer, history: Sequence[EpochRecord]
    ) -> None:
        """Write all that is needed to go on after the last epoch of the history."""
        tensors = dict(model.state_dict())
        for index, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"optimizer.{index}.{name}"] = torch.as_tensor(value)
        records = json.dumps([record.to_dict() for record in history])
        write_tensors(self.checkpoint, tensors, {"format": FORMAT, "history": records})

    def read_checkpoint(
        self, model: nn.Module, optimizer: Optimizer
    ) -> list[EpochRecord]:
        """Load a checkpoint into model and optimiser; return the history so far."""
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
        _load(model, tensors, self.checkpoint)
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


def _is_whole(schema: dict[str, Any], graph: dict[str, Any]) -> bool:
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
        and all(isinstance(name, str) for name in relations or ())
    )


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


def _load(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    try:
        model.load_state_dict(tensors)
    except RuntimeError:
        raise _misfit(path) from None


def _misfit(path: Path) -> InputError:
    return InputError(f"{path} does not fit the settings in config.json beside it")
