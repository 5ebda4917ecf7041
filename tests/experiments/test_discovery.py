"""Which files of a data root are measured, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

from fdgcl.experiments.discovery import find_datasets, node_datasets, of_datasets
from fdgcl.experiments.loader import EVERY, load_experiments, table_files
from fdgcl.experiments.presence import how_to_get
from helpers.data_roots import write_data_root


def test_graphs_with_features_and_classes_are_found(tmp_path: Path) -> None:
    reasons = write_data_root(tmp_path / "data")
    found, unusable = node_datasets(tmp_path / "data")
    assert found == ["Directed", "rare", "undirected"]
    assert set(unusable) == set(reasons)
    for name, reason in reasons.items():
        assert unusable[name].startswith(reason)
        assert str(tmp_path) not in unusable[name]


def test_every_stands_for_what_is_found(tmp_path: Path) -> None:
    reasons = write_data_root(tmp_path / "data")
    found, absent = find_datasets(["texas", EVERY], tmp_path / "data")
    assert found == ["Directed", "rare", "undirected"]
    assert set(absent) == {"texas", *reasons}
    assert find_datasets([EVERY], None) == ([], {})
    assert find_datasets(["texas"], None)[1] == {"texas": "no data root was given"}
    # What is there and of no use is not to be downloaded.
    (tmp_path / "data" / "texas.npz").touch()
    assert how_to_get("texas", tmp_path / "data") == ""
    assert "texas" in how_to_get("texas", tmp_path)
    assert how_to_get("undirected", tmp_path / "data") == ""


def test_an_experiment_on_every_dataset_is_one_on_each(tmp_path: Path) -> None:
    folder = tmp_path / "defaults"
    folder.mkdir()
    (folder / "every-default.toml").write_text("order = 1\n")
    # A file is all that a further variant takes.
    (folder / "every-default-512.toml").write_text("order = 2\n[settings]\ndim = 512\n")
    (folder / "cora-more.toml").write_text("order = 3\n")
    names = [(dataset, v) for dataset, v, _ in table_files("defaults", tmp_path)]
    assert (EVERY, "default-512") in names
    loaded = load_experiments("defaults", tmp_path)
    made = of_datasets(loaded, ["mine", "cora"])
    assert [one.name.removeprefix("defaults/") for one in made] == [
        "mine-default",
        "mine-default-512",
        "cora-default",
        "cora-default-512",
        "cora-more",
    ]
    assert made[1].settings["dim"] == 512
    assert of_datasets(loaded[2:], ["mine"]) == loaded[2:]
