"""Files of runs and stores, changed in ways that a fuzzer found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.graphs import read_graph
from fdgcl.graphs.store.arrays import StoredArray, write_array
from fdgcl.graphs.store.store import Manifest, Store, write_manifest
from fdgcl.run_folder import RunFolder
from fdgcl.workflows.reading import Reading
from fdgcl.workflows.records import read_record, write_record
from fdgcl.workflows.source import Source

from .making import edges, features, table


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    graph = read_graph(table(edges()), table(features(c=["u", "v"])))
    FDGCL(dim=4, epochs=1, time=1, step=1).fit(graph, run=folder)
    return folder


def _change(path: Path, keys: tuple[str, ...], value: Any) -> None:
    whole = json.loads(path.read_text())
    part = whole
    for key in keys[:-1]:
        part = part[key]
    if value is KeyError:
        del part[keys[-1]]
    else:
        part[keys[-1]] = value
    path.write_text(json.dumps(whole))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("settings", "seed"), "5"),
        (("settings", "seed"), 10**20),
        (("settings", "seed"), [1]),
        (("settings", "dim"), 10**12),
        (("settings", "dim"), 10**400),
        (("settings", "dim"), "4"),
        (("settings", "orders"), [10**400, 1]),
        (("settings", "device"), True),
        (("settings", "readout"), [{}]),
        (("settings", "init_scale"), 1e308),
        (("settings", "step"), 1e-320),
        (("schema", "relations"), KeyError),
        (("schema", "relations"), 7),
        (("schema", "num_features"), "3"),
        (("schema", "num_features"), -1),
        (("schema", "table"), []),
        (("schema", "table", "columns", "1", "statistics", "mean"), 10**400),
        (("decisions", "beta"), "x"),
        (("decisions", "beta"), [0, 0]),
        (("decisions", "beta"), [[1], 0]),
        (("decisions", "beta"), 7),
        (("decisions", "beta"), KeyError),
        (("graph", "fingerprint"), KeyError),
        (("format",), None),
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else str(part)[:20],
)
def test_changed_config_is_refused(
    keys: tuple[str, ...], value: Any, trained: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "run"))
    numbered: tuple[Any, ...] = tuple(int(k) if k.isdigit() else k for k in keys)
    _change(folder / "config.json", numbered, value)
    with pytest.raises(InputError):
        _ = FDGCL.load(folder).feature_schema_


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, "\0", '{"format": 1}', "[[]]"]
)
@pytest.mark.parametrize("file", ["config.json", "metrics.jsonl"])
def test_file_that_is_no_such_json(
    file: str, text: str, trained: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "run"))
    (folder / file).write_text(text)
    if file == "metrics.jsonl" and not text:
        assert FDGCL.load(folder).history_ == []
        return
    with pytest.raises(InputError, match=file):
        FDGCL.load(folder)


def _optimizer(model: FDGCL) -> Any:
    views: Any = model._model
    optimizer = torch.optim.Adam(views.parameters())
    for parameter in views.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return views, optimizer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{\\"epoch\\": 1', b'{\\"epock\\": 1'),
        (b'{\\"epoch\\": 1', b'{\\"epoch\\":[1'),
        (b'"history"', b'"hist0ry"'),
        (b'optimizer.0.exp_avg"', b'optimizer.x.exp_avg"'),
        (b'optimizer.0.exp_avg"', b'optimizer.9.exp_avg"'),
    ],
)
def test_changed_checkpoint_is_refused(
    before: bytes, after: bytes, trained: Path, tmp_path: Path
) -> None:
    files = RunFolder(tmp_path)
    model = FDGCL.load(trained)
    views, optimizer = _optimizer(model)
    files.write_checkpoint(views, optimizer, model.history_)
    assert len(files.read_checkpoint(views, optimizer)) == 1
    content = files.checkpoint.read_bytes()
    assert before in content
    files.checkpoint.write_bytes(content.replace(before, after))
    with pytest.raises(InputError, match=r"checkpoint\.safetensors"):
        files.read_checkpoint(views, optimizer)


@pytest.mark.parametrize("dtype", ["f4,(", "|O", "x", 7, [], "(2,"])
def test_changed_type_of_an_array_is_refused(dtype: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    assert write_array(path, np.zeros((3, 2), np.float32)).shape == (3, 2)
    _change(tmp_path / "a.json", ("dtype",), dtype)
    with pytest.raises(InputError, match=r"a\.(json|npy)"):
        StoredArray.open(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", "3"),
        ("nodes", -1),
        ("features", [1]),
        ("block_columns", 0),
        ("weighted", 1),
        ("ids", "words"),
        ("direction", None),
        ("feature_names", [1]),
        ("name", {}),
    ],
)
def test_changed_manifest_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    manifest = Manifest("g", "drawn", 3, 2, 2, "out", False, "text", 1, 1)
    write_manifest(tmp_path, manifest)
    assert Store.open(tmp_path).manifest.nodes == 3
    _change(tmp_path / "manifest.json", (name,), value)
    with pytest.raises(InputError, match="manifest"):
        Store.open(tmp_path)


def test_a_record_of_endless_seconds_is_refused(tmp_path: Path) -> None:
    write_record(
        tmp_path,
        command="fdgcl embed",
        source=Source("g", None),
        reading=Reading(),
        embedding=tmp_path / "z.parquet",
        seconds=1.0,
        notices=[],
    )
    assert read_record(tmp_path) is not None
    _change(tmp_path / "job.json", ("seconds",), 10**400)
    with pytest.raises(InputError, match=r"job\.json"):
        read_record(tmp_path)
