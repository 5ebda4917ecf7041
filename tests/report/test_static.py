"""Figures as files for a paper."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread
from sample_pages import HOSTILE, every_page

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.report.page import Figure, Page, Section, Series
from fdgcl.report.static import write_figures

NAMES = ("bars", "lines", "logs", "map", "steps")


def page_of(*figures: Figure) -> Page:
    return Page("t", "s", [Section("s", figures)])


def texts(path: Path) -> list[str]:
    """The texts of an SVG file, one for each line of each text."""
    return [
        "".join(element.itertext()).strip()
        for element in ElementTree.parse(path).iter()
        if element.tag.endswith("}text")
    ]


def test_every_figure_in_every_format(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    written = write_figures(every_page("a", "b", "c"), tmp_path / "figures")
    assert sorted(path.name for path in written) == sorted(
        f"{name}.{ending}" for name in NAMES for ending in ("png", "pdf")
    )
    for path in written:
        if path.suffix == ".png":
            pixels = imread(path)
            assert min(pixels.shape[:2]) > 500
            assert len(np.unique(pixels[..., 0])) > 20
        else:
            content = path.read_bytes()
            assert content.startswith(b"%PDF")
            assert b"/FontFile2" in content, "TrueType, embedded"
            assert b"/Type3" not in content
    assert dict(mpl.rcParams) == before


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    page = page_of(*every_page("a", "b", "c").figures()[:1])
    for first, second in zip(
        write_figures(page, tmp_path / "1", ("pdf", "png")),
        write_figures(page, tmp_path / "2", ("pdf", "png")),
        strict=True,
    ):
        assert first.read_bytes() == second.read_bytes()


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    names = ["$x_1$", "_hidden", "a_b^{2}", "50 % \\alpha", "<b>bold</b>"]
    series = [Series(name, [0, 1], [0, k]) for k, name in enumerate(names)]
    figure = Figure("f", "$T$", series, x_label="$x$", y_label="_y", log_y=True)
    bars = Figure("g", "B", [Series("_b", names, range(5), mark="bar")])
    (first, second) = write_figures(page_of(figure, bars), tmp_path, ("svg",))
    assert {*names, "$T$", "$x$", "_y"} <= set(texts(first))
    assert set(names) <= set(texts(second))


def test_hostile_and_foreign_names(tmp_path: Path) -> None:
    page = every_page(*HOSTILE[:7], "日本語", "عربى")
    assert len(write_figures(page, tmp_path, ("svg",))) == len(NAMES)


def test_log_axes_have_powers(tmp_path: Path) -> None:
    series = Series("s", [1, 1e3, 1e6], [1e-8, 1, 1e8])
    figure = Figure("f", "F", [series], log_x=True, log_y=True)
    found = texts(write_figures(page_of(figure), tmp_path, ("svg",))[0])
    assert {"1", "10⁶", "10⁻⁸"} <= set(found)


def test_empty_figures_are_drawn(tmp_path: Path) -> None:
    nothing = Figure("a", "A", [])
    empty = Figure("b", "B", [Series("s", [], [])], map=True)
    missing = Figure("c", "C", [Series("s", [1], [float("nan")])])
    assert len(write_figures(page_of(nothing, empty, missing), tmp_path)) == 6


def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = every_page("a", "b", "c")
    with pytest.raises(InputError, match='"png"'):
        write_figures(page, tmp_path, ("pgn",))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_figures(page, tmp_path / "file")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"matplotlib.*\.\[plot\]"):
        write_figures(page, tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
