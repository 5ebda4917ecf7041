"""Write docs/results.md from results/: `python tools/render_results.py [--figures]`.

results/TABLE-HARDWARE.jsonl is the records.jsonl of `fdgcl reproduce TABLE` on that
hardware. With --figures the figures are drawn anew into docs/images/results/.
"""

# ruff: noqa: E501  (prose)

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from as_markdown import to_markdown
from fdgcl.experiments.measures import TABLES
from fdgcl.experiments.pages import page_of_file
from fdgcl.report.page import Page

ROOT = Path(__file__).parents[1]
IMAGES = Path("images") / "results"
HEAD = """# Results

Made by `tools/render_results.py` from the files in `results/`: one line a measurement, with settings, versions, commit, hardware and date. How to measure again: [reproduce.md](reproduce.md).

The encoder is trained on the whole graph without labels; every choice (settings; weight decay, stopping step and normalisation of the probe) is made on validation; test nodes are scored once. What needs no training is probed alike and stands beside what was trained.
"""
NOTHING = "Nothing is measured yet.\n"


def main() -> None:
    """Write the page, and the figures if they are asked for."""
    pages = list(read_pages(ROOT / "results"))
    if "--figures" in sys.argv[1:]:
        from fdgcl.report.static import write_figures

        for name, page in pages:
            folder = ROOT / "docs" / IMAGES / name
            write_figures(page, folder, formats=("png",))
    target = ROOT / "docs" / "results.md"
    target.write_text(render(pages, ROOT / "docs"), encoding="utf-8")


def render(pages: list[tuple[str, Page]], docs: Path) -> str:
    """Return the Markdown; figures that were drawn are shown."""
    parts = [HEAD]
    for name, page in pages:
        pictures = sorted((docs / IMAGES / name).glob("*.png"))
        images = {file.stem: file.relative_to(docs).as_posix() for file in pictures}
        parts.append(to_markdown(page, level=2, images=images))
    return "\n".join(parts if pages else [HEAD, NOTHING])


def read_pages(results: Path) -> Iterator[tuple[str, Page]]:
    """Yield name and page of every file of results, in the tables' order."""
    for table in TABLES:
        for file in sorted(results.glob(f"{table}-*.jsonl")):
            yield file.stem, _page(table, file)


def _page(table: str, file: Path) -> Page:
    page = page_of_file(file)
    hardware = file.stem.removeprefix(f"{table}-")
    where = "on CPU cores" if hardware == "cpu" else f"on {hardware.upper()}"
    return replace(page, title=f"{page.title}, {where}")


if __name__ == "__main__":
    main()
