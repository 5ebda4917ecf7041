"""The HTML as text: whole, inert, well set."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_pages import HOSTILE, every_page

from fdgcl._checks import InputError
from fdgcl.report.html import render, write_page
from fdgcl.report.page import Figure, Page, Section, Series, Table, Text
from fdgcl.report.palette import assign
from fdgcl.report.plots import draw


class Outline(HTMLParser):
    """The tags of a page in order, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and data != "\n":
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data[:100])


def one_table(*rows: tuple[str, ...]) -> str:
    columns = tuple(f"column {i}" for i in range(len(rows[0])))
    return render(Page("t", "s", [Section("s", [Table(columns, rows)])]))


def test_hostile_texts_change_no_tag() -> None:
    harmless = [chr(97 + i) * len(text) for i, text in enumerate(HOSTILE)]
    expected = Outline(render(every_page(*harmless)))
    found = Outline(render(every_page(*HOSTILE)))
    assert found.tags == expected.tags
    assert len(found.scripts) == 8
    for text in HOSTILE[:7]:
        assert any(text in words for words in found.words)


def test_data_is_json_without_markup() -> None:
    found = Outline(render(every_page(*HOSTILE)))
    data = [text for kind, text in found.scripts if kind == "application/json"]
    assert len(data) == 6
    for text in data:
        assert text.isascii()
        assert "<" not in text
        json.loads(text)
    names = [trace["meta"]["label"] for trace in json.loads(data[0])["data"]]
    assert names == list(HOSTILE[:3])


def test_plotly_sees_neither_tags_nor_formulas() -> None:
    for figure in every_page(*HOSTILE).figures():
        drawn = draw(figure)
        texts = [trace["name"] for trace in drawn["data"]]
        texts += [text for trace in drawn["data"] for text in trace["text"]]
        texts += drawn["layout"]["xaxis"].get("ticktext", [])
        for text in texts:
            rest = re.sub(r"</?b>|<br>", "", text)
            assert not set(rest) & set("<>$"), text
            assert not re.search(r"&(?!(amp|lt|gt|#36);)", rest), text
        assert "template" not in json.dumps([list(t) for t in drawn["data"]])


def test_policy_names_the_scripts_that_are_there() -> None:
    text = render(every_page("a", "b", "c"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    assert "unsafe" not in rules["script-src"]
    scripts = [script for kind, script in Outline(text).scripts if kind is None]
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'"
        for s in scripts
    ]
    assert rules["script-src"].split() == hashes
    assert text.index("Content-Security-Policy") < text.index("<title>")


def test_without_figures_there_is_no_script() -> None:
    text = render(Page("Title", "Summary", [Section("One", [Text("Words.")])]))
    assert "<script" not in text
    assert "script-src 'none'" in text
    assert len(text) < 20_000


def test_contents_are_listed_on_long_pages() -> None:
    sections = [Section(f"Part {i}", [Text("Words.")]) for i in range(4)]
    assert "<nav" not in render(Page("t", "s", sections[:3]))
    text = render(Page("t", "s", sections))
    links = re.findall(r'<a href="#([^"]+)">(Part \d)</a>', text)
    assert [name for _, name in links] == ["Part 0", "Part 1", "Part 2", "Part 3"]
    for target, name in links:
        assert f'<section id="{target}">\n<h2>{name}</h2>' in text


def test_numbers_stand_to_the_right() -> None:
    text = one_table(
        ("a", "83.76 ± 0.41", "1,234", "-0.5", "cora", "1.2 s", "", "3 nodes and 4"),
        ("b", "7", "n/a", "1e-3", "7", "95 %", "—", "5"),
    )
    head = re.search(r"<thead>(.*?)</thead>", text, re.DOTALL)
    assert head is not None
    numeric = ['class="number"' in cell for cell in head[1].split("</th>")[:-1]]
    assert numeric == [False, True, True, True, False, True, False, False]


def test_strong_cells() -> None:
    table = Table(("", "x"), [("a", "1"), ("b", "2")], strong=frozenset({(1, 1)}))
    text = render(Page("t", "s", [Section("s", [table])]))
    assert '<td class="number">1</td>' in text
    assert '<td class="number strong">2</td>' in text


def test_what_is_not_finite_is_a_gap() -> None:
    y = [1.0, math.nan, math.inf, -math.inf, 2.0]
    figure = Figure("f", "F", [Series("s", range(5), y, error=y)])
    trace = draw(figure)["data"][0]
    assert trace["y"] == [1.0, None, None, None, 2.0]
    assert trace["error_y"]["array"] == trace["y"]
    assert "not a number" in trace["text"][1]
    assert "∞" in trace["text"][2]


def test_names_stand_side_by_side_in_their_order() -> None:
    figure = Figure(
        "f",
        "F",
        [
            Series("one", ["2020", "b", "a"], [1, 2, 3], mark="bar"),
            Series("two", ["a", "c"], [4, 5], mark="bar"),
        ],
    )
    drawn = draw(figure)
    assert drawn["layout"]["xaxis"]["ticktext"] == ["2020", "b", "a", "c"]
    assert [trace["x"] for trace in drawn["data"]] == [[0, 1, 2], [2, 3]]
    assert drawn["layout"]["barmode"] == "group"
    apart = Figure("f", "F", [Series(n, [n], [1], mark="bar") for n in "ab"])
    assert draw(apart)["layout"]["barmode"] == "overlay"


def test_colours_are_assigned_around_those_taken() -> None:
    series = [Series("", [], [], color=color) for color in (None, 0, None, -1, 1, None)]
    assert assign(series) == [2, 0, 3, -1, 1, 4]


@pytest.mark.parametrize("name", ["", "a b", "../x", "x/y", "é", "a.b"])
def test_names_of_figures_are_plain(name: str) -> None:
    page = Page("t", "s", [Section("s", [Figure(name, "F", [])])])
    with pytest.raises(InputError, match="letters, digits and hyphens"):
        render(page)


def test_names_of_figures_differ() -> None:
    page = Page("t", "s", [Section("s", [Figure("a", "F", []), Figure("a", "G", [])])])
    with pytest.raises(InputError, match="different names"):
        render(page)


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write_page(every_page(*HOSTILE), path)
    before = path.read_bytes()
    assert before.decode().startswith("<!doctype html>")
    twice = Section("s", [Figure("a", "F", []), Figure("a", "F", [])])
    with pytest.raises(InputError):
        write_page(Page("other", "", [twice]), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(InputError, match="cannot write"):
        write_page(Page("t", "s", []), tmp_path / "new")


@pytest.mark.parametrize("cell", ["65.87 ± 1.79 *", "84.59 ± 0.82 (untrained)", "12 s"])
def test_numbers_with_a_remark_are_set_as_numbers(cell: str) -> None:
    page = Page("T", "", [Section("S", [Table(["a", "b"], [["x", cell], ["y", ""]])])])
    assert f'<td class="number">{cell}</td>' in render(page)
