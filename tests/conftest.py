"""What every test may use: where the benchmark data lies, small graphs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The gate tries the same examples every time; a developer's machine tries new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# A shell in the background lets its children ignore Ctrl-C, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

BENCHMARK_DATA = Path(__file__).parents[2] / "shared" / "datasets"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder with the benchmark datasets in the compact format."""
    for folder in (os.environ.get("FDGCL_DATA"), BENCHMARK_DATA):
        if folder and (Path(folder) / "cora.npz").is_file():
            return Path(folder)
    pytest.skip("benchmark data not found: set FDGCL_DATA to a folder with cora.npz")


def pytest_itemcollected(item: pytest.Item) -> None:
    # What takes a bound on rounding errors compares numbers that are rounded.
    names = vars(getattr(item, "module", object)).values()
    if any(getattr(name, "__module__", None) == "tolerances" for name in names):
        item.add_marker("numeric")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    import torch

    if torch.cuda.is_available():
        return
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="no CUDA device here"))
