"""The known datasets: sizes, splits, and where each one comes from.

`sizes` was counted in the files, in the form `load_dataset` hands out; `paper` is
what the table in the appendix of the FD-GCL paper says. Where the two differ, the
note says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["homophilic", "heterophilic", "many graphs"]


@dataclass(frozen=True)
class Sizes:
    """Numbers of nodes, features, classes and (stored) edges."""

    nodes: int
    features: int
    classes: int
    edges: int


@dataclass(frozen=True)
class SplitRule:
    """How a dataset is split: published masks, or seeded random fractions.

    Attributes:
        name: What the splits are called.
        count: How many there are.
        train: Fraction of training nodes; None when the masks are published.
        val: Fraction of validation nodes; the rest tests.
    """

    name: str
    count: int
    train: float | None = None
    val: float | None = None


@dataclass(frozen=True)
class Loader:
    """Which library's files hold the dataset, and where they lie below a root.

    Attributes:
        library: "pyg" (PyTorch Geometric), "ogb" or "snap".
        raw: Folder of the raw files below the library's root.
        kind: Class in `torch_geometric.datasets`.
        key: The dataset's name there.
        options: Other arguments of the class.
    """

    library: Literal["pyg", "ogb", "snap"]
    raw: str
    kind: str = ""
    key: str = ""
    options: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        if self.library == "ogb":
            what = "OGB's raw files"
        elif self.library == "snap":
            what = "SNAP's MUSAE files"
        else:
            what = " ".join(f"PyTorch Geometric's {self.kind} {self.key}".split())
        return f"{what} ({self.raw})"


@dataclass(frozen=True)
class Dataset:
    """One known dataset.

    Attributes:
        name: The name users type.
        sizes: As counted, with `edges` as stored in the adjacency.
        paper: As the paper's table states them, or None.
        kind: Whether neighbours mostly share their class, or that there are many
            graphs with a class each.
        undirected: Whether edges are made symmetric and self-loops removed, so that
            every source gives the same graph; otherwise edges stand as given.
        split: How it is split.
        source: Who published it.
        licence: Terms of the data, as far as the source states them.
        loader: Which library can get it, or None.
        feature_entries: Non-zero features, where a known wrong file must be told apart.
        note: What to know before comparing numbers.
        graphs: How many graphs there are; `load_graphs` reads more than one.
        attributes: Columns that come behind the features when asked for.
    """

    name: str
    sizes: Sizes
    paper: Sizes | None
    kind: Kind
    undirected: bool
    split: SplitRule
    source: str
    licence: str
    loader: Loader | None = None
    feature_entries: int | None = None
    note: str = ""
    graphs: int = 1
    attributes: int = 0


@dataclass(frozen=True)
class _Family:
    """What the datasets of one source have in common."""

    kind: Kind
    split: SplitRule
    source: str
    licence: str
    undirected: bool = False

    def dataset(
        self, name: str, sizes: Sizes, paper: Sizes | None = None, **others: Any
    ) -> Dataset:
        """One of them, with the rest of its fields."""
        return Dataset(name, sizes, paper, **vars(self), **others)


def _pyg(kind: str, key: str, raw: str | None = None, **options: object) -> Loader:
    given = tuple(options.items())
    return Loader("pyg", f"{key}/raw" if raw is None else raw, kind, key, given)


_GEOM = SplitRule("geom-gcn", 10)
_GEOM_SOURCE = "Geom-GCN (github.com/graphdml-uiuc-jlu/geom-gcn)"
_UNSTATED = "not stated by the source"
_PLANETOID = _Family(
    "homophilic",
    SplitRule("public", 1),
    "Planetoid (github.com/kimiyoung/planetoid)",
    "MIT",
    undirected=True,
)
_AMAZON = _Family(
    "homophilic",
    SplitRule("random 10/10/80, seed 0", 10, train=0.1, val=0.1),
    "Amazon co-purchases (github.com/shchur/gnn-benchmark)",
    "MIT",
    undirected=True,
)
_ARXIV = _Family(
    "homophilic",
    SplitRule("official", 1),
    "Open Graph Benchmark (ogb.stanford.edu)",
    "ODC-BY",
)
_WEBKB = _Family("heterophilic", _GEOM, f"WebKB, {_GEOM_SOURCE}", _UNSTATED)
_WIKIPEDIA = _Family(
    "heterophilic", _GEOM, f"Wikipedia (MUSAE), {_GEOM_SOURCE}", _UNSTATED
)
_TU = _Family(
    "many graphs",
    SplitRule("folds, drawn by seed", 10),
    "TUDataset (chrsmrrs.github.io/datasets)",
    _UNSTATED,
    undirected=True,
)
_PAGES = "Edges point from a page to the pages it links to, and direction matters."


_ALL = (
    Dataset(
        "cora-bundled",
        Sizes(2708, 1433, 7, 10556),
        None,
        "homophilic",
        undirected=True,
        split=SplitRule("20 per class / 500 / 1000, seed 0", 1),
        source="the PyPI package graphdatascience, in this package",
        licence="Apache-2.0",
        note="Its node order and its split are not Planetoid's.",
    ),
    _PLANETOID.dataset(
        "cora",
        Sizes(2708, 1433, 7, 10556),
        Sizes(2708, 1433, 7, 5429),
        loader=_pyg("Planetoid", "Cora"),
        note="The paper counts citations, two of which may join the same two papers.",
    ),
    _PLANETOID.dataset(
        "citeseer",
        Sizes(3327, 3703, 6, 9104),
        Sizes(3327, 3703, 6, 4732),
        loader=_pyg("Planetoid", "CiteSeer"),
        note="The paper counts half of the 9464 stored entries, loops and repeats "
        "included.",
    ),
    _PLANETOID.dataset(
        "pubmed",
        Sizes(19717, 500, 3, 88648),
        Sizes(19717, 500, 3, 88651),
        loader=_pyg("Planetoid", "PubMed"),
        note="The paper counts both directions and three self-loops.",
    ),
    _AMAZON.dataset(
        "computers",
        Sizes(13752, 767, 10, 491722),
        Sizes(13752, 767, 10, 574418),
        loader=_pyg("Amazon", "Computers"),
        note="The paper counts each of the 287209 directed edges twice.",
    ),
    _AMAZON.dataset(
        "photo",
        Sizes(7650, 745, 8, 238162),
        Sizes(7650, 745, 8, 119081),
        loader=_pyg("Amazon", "Photo"),
        note="The paper counts undirected edges once.",
    ),
    _ARXIV.dataset(
        "ogbn-arxiv",
        Sizes(169343, 128, 40, 1166243),
        Sizes(169343, 128, 40, 1166243),
        loader=Loader("ogb", "ogbn_arxiv/raw"),
    ),
    _ARXIV.dataset(
        "ogbn-arxiv-nofeat",
        Sizes(169343, 0, 40, 1166243),
        note="ogbn-arxiv without its features: for speed and scale, not for accuracy.",
    ),
    _WEBKB.dataset(
        "texas",
        Sizes(183, 1703, 5, 325),
        Sizes(183, 1793, 5, 309),
        loader=_pyg("WebKB", "texas"),
        note="The paper leaves out 16 self-loops; its 1793 features must be 1703.",
    ),
    _WEBKB.dataset(
        "cornell",
        Sizes(183, 1703, 5, 298),
        Sizes(183, 1703, 5, 295),
        loader=_pyg("WebKB", "cornell"),
        note="The paper leaves out 3 self-loops; Geom-GCN's repository has Texas' "
        "features under Cornell's name, and such a file is refused.",
        feature_entries=17240,
    ),
    _WEBKB.dataset(
        "wisconsin",
        Sizes(251, 1703, 5, 515),
        Sizes(251, 1703, 5, 466),
        loader=_pyg("WebKB", "wisconsin"),
        note="The paper counts undirected edges once, and the 16 self-loops.",
    ),
    _WIKIPEDIA.dataset(
        "chameleon",
        Sizes(2277, 2325, 5, 36101),
        Sizes(2277, 2325, 5, 36101),
        loader=_pyg(
            "WikipediaNetwork",
            "chameleon",
            "chameleon/geom_gcn/raw",
            geom_gcn_preprocess=True,
        ),
        note=_PAGES,
    ),
    _WIKIPEDIA.dataset(
        "squirrel",
        Sizes(5201, 2089, 5, 217073),
        Sizes(5201, 2089, 5, 217073),
        loader=_pyg(
            "WikipediaNetwork",
            "squirrel",
            "squirrel/geom_gcn/raw",
            geom_gcn_preprocess=True,
        ),
        note=_PAGES,
    ),
    Dataset(
        "crocodile",
        Sizes(11631, 13183, 5, 180020),
        Sizes(11631, 2089, 5, 360040),
        "heterophilic",
        undirected=False,
        split=SplitRule("random 48/32/20, seed 0", 10, train=0.48, val=0.32),
        source="Wikipedia (MUSAE), SNAP (snap.stanford.edu/data)",
        licence=_UNSTATED,
        loader=Loader("snap", "wikipedia/crocodile"),
        note="The paper used another feature file (its 2089 is Squirrel's number) and "
        "counts each edge twice; compare with care. Classes are fifths of the traffic.",
    ),
    Dataset(
        "actor",
        Sizes(7600, 932, 5, 30019),
        Sizes(7600, 932, 5, 33391),
        "heterophilic",
        undirected=False,
        split=_GEOM,
        source=f"Actor (film), {_GEOM_SOURCE}",
        licence=_UNSTATED,
        loader=Loader("pyg", "raw", "Actor"),
        note="The paper counts repeated edges.",
    ),
    Dataset(
        "roman-empire",
        Sizes(22662, 300, 18, 65854),
        Sizes(22662, 300, 18, 32927),
        "heterophilic",
        undirected=True,
        split=SplitRule("published 50/25/25", 10),
        source="github.com/yandex-research/heterophilous-graphs",
        licence="MIT",
        loader=Loader(
            "pyg", "roman_empire/raw", "HeterophilousGraphDataset", "Roman-empire"
        ),
        note="The paper counts undirected edges once; sizes here are its table's.",
    ),
    Dataset(
        "arxiv-year",
        Sizes(169343, 128, 5, 1166243),
        Sizes(169343, 128, 5, 1166243),
        "heterophilic",
        undirected=False,
        split=SplitRule("random 50/25/25, seed 0", 5, train=0.5, val=0.25),
        source="ogbn-arxiv with LINKX's labels (arXiv 2110.14446)",
        licence="ODC-BY",
        loader=Loader("ogb", "ogbn_arxiv/raw"),
        note="Classes are fifths of the publication years.",
    ),
    _TU.dataset(
        "proteins",
        Sizes(43471, 3, 2, 162088),
        loader=_pyg("TUDataset", "PROTEINS"),
        graphs=1113,
        note="Features are the 3 node labels; the one attribute comes behind them if "
        "asked.",
        attributes=1,
    ),
    _TU.dataset(
        "dd",
        Sizes(334925, 89, 2, 1686092),
        loader=_pyg("TUDataset", "DD"),
        graphs=1178,
        note="Features are the 89 node labels, seven of which no node has.",
    ),
)

CATALOGUE: dict[str, Dataset] = {entry.name: entry for entry in _ALL}
