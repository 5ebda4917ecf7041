"""Doing the next piece of work while the last one is being used."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Generator[T, None, None]) -> Generator[T, None, None]:
    """Yield the items; the next one is made in a thread while one is used.

    Reading, sorting and writing let other threads run, so that two of them overlap.
    No more than one item waits: memory holds two at a time.
    """
    try:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(next, items, None)
            while (item := waiting.result()) is not None:
                waiting = pool.submit(next, items, None)
                yield item
    finally:
        items.close()
