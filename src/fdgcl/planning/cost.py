"""What a graph on disk will take: seconds by rates measured, bytes by counting.

A stage's seconds are amounts of work times rates. The amounts follow from the sizes;
the rates are fitted to measured runs of the commands by `tools/render_scale.py`, on a
machine of two cores. The bytes are what the files hold, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from fdgcl._checks import check_count


@dataclass(frozen=True)
class Rates:
    """Seconds for a unit of each kind of work.

    Attributes:
        import_start: An import of nothing: Python, its libraries, a few files.
        diffuse_start: The same of a diffusion.
        train_start: The same of training.
        edge: An edge read, mapped, sorted and merged.
        feature: A number of the features imported.
        spectrum: A stored entry, for all of the look at the graph as a whole.
        entry: A stored entry, in each product of each slice.
        entry_column: A stored entry and a column, in each product.
        term: A node and a column, in each product, for the recurrence and each order.
        diffused: A number of the diffused features written.
        multiply_add: Of the dense products of training and embedding.
        row: A row's number, features and views alike, read and passed over an epoch.
        embedded: A number of the embedding written.
    """

    import_start: float
    diffuse_start: float
    train_start: float
    edge: float
    feature: float
    spectrum: float
    entry: float
    entry_column: float
    term: float
    diffused: float
    multiply_add: float
    row: float
    embedded: float


#: Fitted to the runs in results/scale.
RATES = Rates(
    import_start=2.79,
    diffuse_start=2.87,
    train_start=4.73,
    edge=2.14e-07,
    feature=1.31e-08,
    spectrum=8.11e-08,
    entry=8.25e-09,
    entry_column=3.38e-10,
    term=7.41e-10,
    diffused=1.2e-08,
    multiply_add=9.57e-12,
    row=5.88e-09,
    embedded=1.44e-08,
)
#: Threads that the rates were measured with.
MEASURED_THREADS = 2


@dataclass(frozen=True)
class Problem:
    """The sizes that work depends on.

    Attributes:
        nodes: Number of nodes.
        edges: Edges read, as they stand in the file.
        entries: Neighbours stored, of all nodes together.
        features: Number of features.
        dim: Columns of each view.
        epochs: Of training.
        columns: Features in each slice of the diffusion.
        products: Products with the graph, for each slice.
        orders: Number of fractional orders.
    """

    nodes: int
    edges: int
    entries: int
    features: int
    dim: int
    epochs: int
    columns: int
    products: int
    orders: int = 2

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            check_count(name, value, minimum=0 if name in _MAY_BE_ZERO else 1)

    @property
    def slices(self) -> int:
        """Slices of the diffusion."""
        return -(-self.features // self.columns)


_MAY_BE_ZERO = ("edges", "entries", "epochs", "products")


def import_seconds(
    edges: int, nodes: int, features: int, *, rates: Rates = RATES
) -> float:
    """Seconds of `fdgcl data import`.

    Example:
        >>> round(import_seconds(10**8, 10**7, 64))
        33
    """
    return total(import_work(edges, nodes, features), rates)


def diffuse_seconds(
    nodes: int,
    entries: int,
    features: int,
    columns_per_slice: int,
    products: int,
    orders: int = 2,
    threads: int | None = None,
    *,
    rates: Rates = RATES,
) -> float:
    """Seconds of `fdgcl diffuse`, the graph's files being in the page cache.

    Args:
        nodes: Number of nodes.
        entries: Neighbours stored.
        features: Number of features.
        columns_per_slice: Features that are diffused together.
        products: Products with the graph, for each slice.
        orders: Number of fractional orders.
        threads: Threads in all; None for as many as the rates were measured with.
            Others are taken to help in proportion, which memory may not allow.
        rates: Those fitted, unless told.
    """
    count = MEASURED_THREADS if threads is None else check_count("threads", threads)
    work = diffuse_work(nodes, entries, features, columns_per_slice, products, orders)
    computed = total(work, rates) - rates.diffuse_start
    return rates.diffuse_start + computed * MEASURED_THREADS / count


def train_seconds(
    nodes: int, features: int, dim: int, epochs: int, *, rates: Rates = RATES
) -> float:
    """Seconds of `fdgcl train` but for the embedding: statistics and epochs.

    Example:
        >>> round(train_seconds(10**7, 64, 128, epochs=3) / 60)
        2
    """
    return total(train_work(nodes, features, dim, epochs), rates)


def embed_seconds(
    nodes: int, features: int, dim: int, *, rates: Rates = RATES
) -> float:
    """Seconds to embed all nodes and write the embedding, by `fdgcl train`.

    Example:
        >>> round(embed_seconds(10**7, 64, 128))
        20
    """
    return total(embed_work(nodes, features, dim), rates)


def train_flops(nodes: int, features: int, dim: int, epochs: int, width: int) -> float:
    """Floating-point operations of the dense products of `fdgcl train`.

    Args:
        nodes: Number of nodes.
        features: Number of features.
        dim: Columns of each view.
        epochs: Of training.
        width: Columns of the embedding.

    Example:
        >>> train_flops(nodes=1, features=2, dim=3, epochs=0, width=3)
        40.0
    """
    trained = train_work(nodes, features, dim, epochs)["multiply_add"]
    return 2 * (trained + embed_work(nodes, features, width)["multiply_add"])


def describe_seconds(seconds: float) -> str:
    """An expected time as a short text: no more digits than it is worth.

    Example:
        >>> describe_seconds(150)
        '2 min'
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def store_bytes(
    nodes: int, entries: int, features: int, *, weighted: bool = False
) -> int:
    """Bytes of a store but for its ids: starts, neighbours, weights and features.

    Example:
        >>> store_bytes(nodes=2, entries=3, features=5)
        76
    """
    neighbour = 4 if nodes < 2**31 else 8
    graph = 8 * (nodes + 1) + entries * (neighbour + (4 if weighted else 0))
    return graph + 4 * nodes * features


def import_temporary_bytes(
    edges: int, *, symmetric: bool = True, weighted: bool = False
) -> int:
    """Bytes of the sorted runs of an import: a key, and a weight, for each way.

    Example:
        >>> import_temporary_bytes(100)
        1600
    """
    ways = 2 if symmetric else 1
    return ways * edges * (8 + (4 if weighted else 0))


def diffused_bytes(
    nodes: int, features: int, orders: int = 2, itemsize: int = 4
) -> int:
    """Bytes of the diffused features.

    Example:
        >>> diffused_bytes(nodes=2, features=5)
        80
    """
    return itemsize * orders * nodes * features


def embedding_bytes(nodes: int, dim: int) -> int:
    """Bytes of the embedding: float32, and an id of 8 a row, not compressed.

    Example:
        >>> embedding_bytes(nodes=2, dim=4)
        48
    """
    return nodes * (4 * dim + 8)


def import_work(edges: int, nodes: int, features: int) -> dict[str, float]:
    """An import: amounts of work, by the names of `Rates`."""
    return {"import_start": 1.0, "edge": edges, "feature": float(nodes) * features}


def diffuse_work(
    nodes: int, entries: int, features: int, columns: int, products: int, orders: int
) -> dict[str, float]:
    """The same of a diffusion."""
    slices = -(-features // columns)
    numbers = float(nodes) * features
    return {
        "diffuse_start": 1.0,
        "spectrum": entries,
        "entry": float(entries) * products * slices,
        "entry_column": float(entries) * products * features,
        "term": numbers * products * (1 + orders),
        "diffused": numbers * orders,
    }


def train_work(nodes: int, features: int, dim: int, epochs: int) -> dict[str, float]:
    """The same of training, but for the embedding."""
    # An epoch: two views forward and backward, and their Gram matrices. Before it the
    # covariances of the diffused features.
    epoch = 4 * features * dim + 2 * dim**2
    once = 2 * features**2
    return {
        "train_start": 1.0,
        "multiply_add": float(nodes) * (epochs * epoch + once),
        "row": float(nodes) * (2 * features * (epochs + 1) + 2 * dim * epochs),
    }


def embed_work(nodes: int, features: int, dim: int) -> dict[str, float]:
    """The same of embedding all nodes."""
    return {
        "multiply_add": 2.0 * nodes * features * dim,
        "embedded": float(nodes) * dim,
    }


def total(work: Mapping[str, float], rates: Rates) -> float:
    """Seconds of amounts of work."""
    return float(sum(getattr(rates, name) * amount for name, amount in work.items()))
