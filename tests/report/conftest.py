"""A real browser, without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window; where it must be there, its absence is a failure."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _give_up("the package playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        _give_up("no chromium is installed (Debian and Ubuntu: apt install chromium)")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox"]
        )
        yield found
        found.close()


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and the gate must look at the pages")
    pytest.skip(reason)
