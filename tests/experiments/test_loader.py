"""Every shipped file is a sound experiment; unsound ones are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.estimators import estimator_of
from fdgcl.experiments import loader
from fdgcl.experiments.experiment import PaperNumber
from fdgcl.experiments.loader import EVERY, load_experiments, table_files
from fdgcl.experiments.measures import TABLES, build_measure
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.presets import preset_settings

# As the paper prints them: Tables 1 and 2, last column; Table 3, three datasets a row.
TABLE_1 = """
cora 84.50 0.43
citeseer 73.72 0.30
pubmed 82.02 0.28
computers 90.13 0.45
photo 94.17 0.86
ogbn-arxiv 70.46 0.13
"""
TABLE_2 = """
squirrel 64.92 1.46
chameleon 74.32 1.24
crocodile 68.73 0.77
actor 35.70 1.08
wisconsin 79.22 5.13
cornell 67.57 5.27
texas 78.38 5.80
roman-empire 72.56 0.63
arxiv-year 47.22 0.13
"""
TABLE_3 = """
gcn       56.23 0.54  65.10 5.60  62.58 0.85
equal-1   78.09 0.19  61.57 6.21  63.57 1.01
equal-0.5 81.19 0.12  66.27 3.59  60.32 0.92
equal-0.1 77.52 0.13  77.06 4.64  67.89 0.98
0.1-0.2   78.65 0.17  74.71 3.77  68.06 1.16
0.5-1     82.53 0.13  63.33 6.27  68.42 0.71
0.01-1    84.27 0.27  79.22 5.13  68.99 0.66
"""
ORDERS = {
    "equal-1": (1, 1),
    "equal-0.5": (0.5, 0.5),
    "equal-0.1": (0.1, 0.1),
    "0.1-0.2": (0.1, 0.2),
    "0.5-1": (0.5, 1),
    "0.01-1": (0.01, 1),
}


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


@pytest.mark.parametrize("table", TABLES)
def test_every_shipped_file_is_sound(table: str) -> None:
    experiments = load_experiments(table)
    assert experiments
    assert len(experiments) == len(table_files(table))
    measure = build_measure(TABLES[table].measure)
    for experiment in experiments:
        assert experiment.dataset in (*CATALOGUE, EVERY)
        model = estimator_of(experiment.method)
        assert set(experiment.settings) == set(model().get_params())
        experiment.model().check()
        assert set(experiment.options) == set(measure.options)
        assert measure.units(experiment, 2)
        assert experiment.label


@pytest.mark.parametrize(
    ("table", "text"), [("homophilic", TABLE_1), ("heterophilic", TABLE_2)]
)
def test_accuracy_tables_hold_the_papers_numbers(table: str, text: str) -> None:
    experiments = load_experiments(table)
    rows = _rows(text)
    assert list(dict.fromkeys(e.dataset for e in experiments)) == [r[0] for r in rows]
    for dataset, value, std in rows:
        found = {e.variant: e for e in experiments if e.dataset == dataset}
        both_ways = dataset in ("squirrel", "chameleon")
        assert set(found) == {"paper", "best"} | (
            {"paper-symmetric"} if both_ways else set()
        )
        for variant, experiment in found.items():
            assert experiment.paper == PaperNumber(float(value), float(std))
            base = "best" if variant == "best" else "paper"
            expected = FDGCL(**preset_settings(dataset, base)).get_params()
            if variant == "paper-symmetric":
                assert expected["direction"] == "out"
                expected["direction"] = "symmetric"
            assert experiment.settings == expected
        # What needs no training is measured, and what is not random only once.
        parts = [set(e.options["parts"]) for e in found.values()]
        assert all({"trained", "untrained"} <= names for names in parts)
        assert sum("features" in names for names in parts) == 1
        assert "smoothed" in found["paper"].options["parts"]


def test_orders_table_holds_the_papers_numbers() -> None:
    experiments = load_experiments("orders")
    assert len(experiments) == 21
    found = {(e.variant, e.dataset): e for e in experiments}
    for variant, *numbers in _rows(TABLE_3):
        for place, dataset in enumerate(("cora", "wisconsin", "crocodile")):
            experiment = found[variant, dataset]
            value, std = map(float, numbers[2 * place : 2 * place + 2])
            assert experiment.paper == PaperNumber(value, std)
            expected = FDGCL(**preset_settings(dataset, "paper")).get_params()
            if variant == "gcn":
                assert experiment.options["encoder"] == "gcn"
                assert experiment.settings["direction"] == "symmetric"
                assert experiment.settings["self_loops"] == 1
                expected["init_scale"] = 1.0
            else:
                assert experiment.options["encoder"] == "diffusion"
                expected["orders"] = ORDERS[variant]
            assert experiment.settings == expected
            assert experiment.options["parts"] == ["trained"]


def test_dataset_is_the_longest_name_that_fits(tmp_path: Path) -> None:
    folder = tmp_path / "theorem"
    folder.mkdir()
    for name in ("cora-bundled-x", "cora-y-z", "ogbn-arxiv-nofeat-a"):
        (folder / f"{name}.toml").write_text("")
    (folder / "notes.txt").write_text("not an experiment")
    found = [
        (dataset, variant) for dataset, variant, _ in table_files("theorem", tmp_path)
    ]
    assert found == [("cora-bundled", "x"), ("cora", "y-z"), ("ogbn-arxiv-nofeat", "a")]


def test_reading_order(tmp_path: Path) -> None:
    folder = tmp_path / "homophilic"
    folder.mkdir()
    for name, order in (("photo-b", 2), ("cora-b", 1), ("cora-a", 1), ("pubmed-z", 0)):
        (folder / f"{name}.toml").write_text(f"order = {order}\n")
    names = [e.name.partition("/")[2] for e in load_experiments("homophilic", tmp_path)]
    assert names == ["pubmed-z", "cora-a", "cora-b", "photo-b"]


BAD = {
    "lable = 'x'": r"unknown key 'lable'; did you mean \"label\"\?",
    "[settings]\ntim = 3": r"unknown setting 'tim'; did you mean \"time\"\?",
    "[settings]\ntime = -3": "time must be positive, got -3",
    "[settings]\nseed = 3": "'seed' belongs to the run",
    "[settings]\ndevice = 'cuda'": "'device' belongs to the run",
    "[settings]\norders = [0.5]\nloss = 'regularized-cosmean'": "there is one, 0.5",
    "[options]\nencoders = 'gcn'": r"unknown option 'encoders'; did you mean",
    "[options]\nencoder = 3": "'encoder' must be a str, got 3",
    "[options]\nparts = 'trained'": "'parts' must be a list, got 'trained'",
    "[paper]\nstd = 1": r"\[paper\] needs a value",
    "[paper]": r"\[paper\] needs a value, or a word in its place",
    "[paper]\nvalue = 1\nword = 'OOM'": "needs a value, or a word in its place",
    "[paper]\nword = 3": "word must be text, got 3",
    "[paper]\nwrod = 'OOM'": r"unknown key of \[paper\] 'wrod'; did you mean \"word\"",
    "[paper]\nvalue = 'high'": "value must be a finite number, got 'high'",
    "[paper]\nvalue = 1\nstd = -1": "std must be zero or more",
    "[paper]\nvalue = 1\nmean = 1": "unknown key of \\[paper\\] 'mean'",
    "paper = 84.5": r"paper must be a table, \[paper\], got 84.5",
    "preset = 'coar'": r"unknown preset 'coar'; did you mean \"cora\"\?",
    "preset = 'cora'\nbase = 'papr'": r"did you mean \"paper\"\?",
    "base = 'paper'": "no preset is named",
    "method = 'bgrl'\npreset = 'photo'\nbase = 'best'": "base is a variant of FD-GCL's",
    "method = 'bgrl'\npreset = 'cora'": "published settings of bgrl",
    "method = 'bgrl'\n[settings]\norders = [1.0]": "unknown setting 'orders'",
    "method = 'brgl'": 'did you mean "bgrl"',
    "preset = 3": "preset must be text, got 3",
    "label = 3": "label must be text, got 3",
    "order = 1.5": "order must be a whole number",
    "label =": "Invalid value",
}


@pytest.mark.parametrize("content", BAD)
def test_bad_files_are_refused_by_name(content: str, tmp_path: Path) -> None:
    (tmp_path / "homophilic").mkdir()
    (tmp_path / "homophilic" / "cora-x.toml").write_text(content)
    with pytest.raises(InputError, match=BAD[content]) as caught:
        load_experiments("homophilic", tmp_path)
    assert "cora-x.toml: " in str(caught.value)


@pytest.mark.parametrize(
    ("content", "number", "word"),
    [
        ("", None, ""),
        ("[paper]\nvalue = 71.79\nstd = 0.14", PaperNumber(71.79, 0.14), ""),
        ("[paper]\nvalue = 71.79", PaperNumber(71.79, None), ""),
        ("[paper]\nword = 'OOM'", None, "OOM"),
    ],
)
def test_the_paper_has_a_number_a_word_or_nothing(
    content: str, number: PaperNumber | None, word: str, tmp_path: Path
) -> None:
    (tmp_path / "dynamics").mkdir()
    (tmp_path / "dynamics" / "cora-x.toml").write_text(content)
    (experiment,) = load_experiments("dynamics", tmp_path)
    assert (experiment.paper, experiment.paper_word) == (number, word)


def test_bad_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "homophilic").mkdir()
    (tmp_path / "homophilic" / "coar-x.toml").write_text("")
    with pytest.raises(InputError, match=r"known dataset; did you mean \"cora\"\?"):
        load_experiments("homophilic", tmp_path)
    with pytest.raises(InputError, match="unknown table 'hetero'"):
        load_experiments("hetero")
    assert table_files("homophilic", tmp_path / "nowhere") == []
    assert loader.ROOT.is_dir()
