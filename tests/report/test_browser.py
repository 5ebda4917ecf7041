"""The page in a real browser: drawn, readable, inert."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_pages import HOSTILE, every_page

from fdgcl import FDGCL, Graph
from fdgcl.report.accuracy import Score
from fdgcl.report.embedding_map import Groups
from fdgcl.report.html import write_page
from fdgcl.report.page import Figure, Page, Section, Series
from fdgcl.report.run_page import Embedded, Findings, Spectrum, run_page
from fdgcl.report.spectrum import any_graph
from fdgcl.run_folder import RunFolder

VISIBLE = HOSTILE[:7]  # those whose characters all have a shape


@dataclass
class Visit:
    """A page that is open, and what it did."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.page.evaluate(script, *arguments)

    def wait_until(self, script: str) -> None:
        """Ask again and again; the page's policy lets no one wait inside it."""
        for _ in range(50):
            if self.run(script):
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(script)

    def plot(self, name: str) -> Any:
        return self.page.locator(f"#figure-{name} .plot")

    def range(self, name: str, axis: str = "xaxis") -> list[float]:
        find = (
            "([n, a]) => document.querySelector(`#figure-${n} .plot`).layout[a].range"
        )
        found: list[float] = self.run(find, [name, axis])
        return found


@contextmanager
def visiting(
    browser: Any, path: Path, width: int = 1000, scheme: str = "light"
) -> Iterator[Visit]:
    """Open a file, wait until all is drawn; afterwards nothing may have gone wrong."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    visit = Visit(context.new_page())
    visit.page.on("request", lambda request: visit.requests.append(request.url))
    visit.page.on("console", lambda message: visit.complaints.append(message.text))
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.on("dialog", lambda dialog: visit.complaints.append(dialog.message))
    visit.page.goto(path.as_uri())
    visit.page.wait_for_selector("html[data-drawn=all]", state="attached")
    yield visit
    assert visit.requests == [path.as_uri()]
    assert visit.complaints == []
    assert visit.run("window.__hacked") is None
    context.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(every_page(*HOSTILE), path)
    return path


@pytest.fixture(scope="module")
def visit(browser: Any, file: Path) -> Iterator[Visit]:
    with visiting(browser, file) as found:
        yield found


def test_every_figure_is_drawn(visit: Visit) -> None:
    for name in ("lines", "bars", "logs", "steps", "map"):
        box = visit.plot(name).locator(".main-svg").first.bounding_box()
        assert min(box["width"], box["height"]) > 200, name
    drawn = {
        # Three series, one of them in two strokes: a gap where there is no number.
        "#figure-lines .scatterlayer .js-line": 4,
        "#figure-lines .errorbar": 30,
        "#figure-bars .barlayer .point": len(HOSTILE) + 2,
        "#figure-logs .js-line": 1,
        "#figure-logs .point": 2,
        "#figure-steps .js-fill": 1,
        "#figure-steps .point": 1,
        "#figure-map .point": 60,
    }
    for selector, count in drawn.items():
        paths = visit.page.locator(selector)
        assert paths.count() == count, selector


def test_axes(visit: Visit) -> None:
    assert visit.plot("map").locator(".xtick, .ytick").count() == 0
    assert visit.plot("lines").locator(".y2tick").count() > 2
    dash = "e => getComputedStyle(e).strokeDasharray"
    lines = visit.plot("lines").locator(".js-line")
    assert lines.nth(0).evaluate(dash) == "none"
    assert lines.nth(2).evaluate(dash) == "6px, 4px"
    ticks = visit.plot("logs").locator(".ytick").all_text_contents()
    assert any("10" in tick for tick in ticks)


def test_hostile_texts_are_shown_as_they_are(visit: Visit) -> None:
    body = visit.page.locator("body").inner_text()
    heading = visit.page.locator("h1").inner_text()
    assert heading == f"Title {HOSTILE[0]}"
    rows = visit.page.locator("tbody th").all_text_contents()
    keys = visit.page.locator("#figure-map .legend button").all_text_contents()
    for number, text in enumerate(VISIBLE):
        assert text in body
        assert text in rows[number]
    assert [key.lstrip("●") for key in keys] == [
        f"{text} {k}" for k, text in enumerate(HOSTILE[:3])
    ]
    axis = visit.plot("lines").locator(".xtitle").text_content()
    assert axis == HOSTILE[0]
    tick = visit.plot("bars").locator(".xtick text").first.text_content()
    assert tick == HOSTILE[0]


def test_hostile_texts_make_no_elements(visit: Visit) -> None:
    assert (
        visit.run("document.querySelectorAll('svg a, img, body b, extra').length") == 0
    )
    scripts = visit.run("[...document.scripts].map(s => s.type)")
    assert scripts == ["application/json"] * 6 + ["", ""]


@pytest.mark.parametrize("number", range(len(VISIBLE)))
def test_hover_shows_the_id_as_it_is(visit: Visit, number: int) -> None:
    visit.page.locator("#figure-map").scroll_into_view_if_needed()
    # The last series is drawn on top, so its points are never hidden.
    point = visit.plot("map").locator(".trace").last.locator(".point").nth(number)
    box = point.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = visit.plot("map").locator(".hoverlayer .hovertext")
    label.wait_for()
    shown = label.text_content()
    assert shown == f"{HOSTILE[number]} {number}{HOSTILE[2]} 2"
    visit.page.mouse.move(0, 0)
    label.wait_for(state="detached")


def test_hover_shows_values(visit: Visit) -> None:
    visit.page.locator("#figure-steps").scroll_into_view_if_needed()
    box = visit.plot("steps").locator(".point").bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = visit.plot("steps").locator(".hoverlayer .hovertext")
    label.wait_for()
    assert label.text_content() == "one point1.52.5"


def test_zoom_changes_the_range(visit: Visit) -> None:
    visit.page.locator("#figure-lines").scroll_into_view_if_needed()
    before = visit.range("lines")
    area = visit.plot("lines").locator(".nsewdrag").first.bounding_box()
    y = area["y"] + area["height"] / 2
    visit.page.mouse.move(area["x"] + area["width"] * 0.3, y)
    visit.page.mouse.down()
    visit.page.mouse.move(area["x"] + area["width"] * 0.6, y, steps=5)
    visit.page.mouse.up()
    visit.page.wait_for_timeout(300)
    after = visit.range("lines")
    assert before[0] < after[0] < after[1] < before[1]
    assert after[1] - after[0] == pytest.approx(0.3 * (before[1] - before[0]), rel=0.1)
    visit.page.mouse.dblclick(area["x"] + area["width"] / 2, y)
    visit.page.wait_for_timeout(500)
    assert visit.range("lines") == pytest.approx(before)


def test_legend_hides_and_isolates(visit: Visit) -> None:
    keys = visit.page.locator("#figure-map .legend button")
    points = visit.plot("map").locator(".point")
    keys.nth(0).click()
    assert points.count() == 40
    assert keys.nth(0).get_attribute("aria-pressed") == "false"
    keys.nth(0).click()
    assert points.count() == 60
    keys.nth(1).dblclick()
    assert points.count() == 20
    keys.nth(1).dblclick()
    assert points.count() == 60


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "light"), (400, "dark"), (1600, "light")]
)
def test_nothing_sticks_out(browser: Any, file: Path, width: int, scheme: str) -> None:
    with visiting(browser, file, width, scheme) as visit:
        wide = visit.run("document.documentElement.scrollWidth")
        assert wide == width
        plots = visit.page.locator(".plot")
        for index in range(plots.count()):
            box = plots.nth(index).locator(".main-svg").first.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_colours_follow_the_scheme(browser: Any, file: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    tick = "getComputedStyle(document.querySelector('.xtick text')).fill"
    line = "getComputedStyle(document.querySelector('.js-line')).stroke"
    key = "getComputedStyle(document.querySelector('.legend i')).color"
    with visiting(browser, file, scheme="light") as visit:
        light = [visit.run(script) for script in (background, tick, line, key)]
        visit.page.emulate_media(color_scheme="dark")
        visit.wait_until(f"{line} !== '{light[2]}'")
        dark = [visit.run(script) for script in (background, tick, line, key)]
        assert all(a != b for a, b in zip(light, dark, strict=True))
        assert light[2] == light[3]
        assert dark[2] == dark[3]
        # On paper it is light again.
        visit.run("dispatchEvent(new Event('beforeprint'))")
        visit.wait_until(f"{line} === '{light[2]}'")
        assert visit.run(tick) == "rgb(68, 68, 68)"
        visit.run("dispatchEvent(new Event('afterprint'))")
        visit.wait_until(f"{line} === '{dark[2]}'")


def test_twenty_thousand_points(browser: Any, tmp_path: Path) -> None:
    cloud = np.random.default_rng(0).standard_normal((20_000, 2))
    series = Series(
        "nodes",
        cloud[:, 0].tolist(),
        cloud[:, 1].tolist(),
        mark="points",
        hover=[f"node {i}" for i in range(len(cloud))],
    )
    page = Page("Many", "", [Section("", [Figure("map", "", [series], map=True)])])
    write_page(page, tmp_path / "many.html")
    with visiting(browser, tmp_path / "many.html") as visit:
        assert visit.plot("map").locator(".point").count() == 20_000


def test_the_report_of_a_run_on_hostile_data(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    nodes = 4 * len(VISIBLE)
    graph = Graph.from_edges(
        rng.integers(0, nodes, (3 * nodes, 2)),
        rng.standard_normal((nodes, 5)),
        name=HOSTILE[0],
        source=HOSTILE[3],
    )
    ids = np.array([f"{text} {k}" for k in range(4) for text in VISIBLE])
    model = FDGCL(dim=4, epochs=3).fit(graph, run=tmp_path)
    config = RunFolder(tmp_path).read_config()
    found = Findings(
        config=config,
        history=[record.to_dict() for record in model.history_],
        finished=True,
        spectrum=Spectrum(any_graph(), None, HOSTILE[4]),
        embedded=Embedded(ids, model.transform(graph)),
        groups=Groups(np.arange(nodes) % len(VISIBLE), VISIBLE, HOSTILE[5]),
        views=model.views(graph),
        scores=[Score(VISIBLE[1], 0.5, 0.1), Score(VISIBLE[2], 0.4)],
        scored=HOSTILE[6],
        paper=Score(VISIBLE[0], 0.6),
        notices=HOSTILE,
        facts={HOSTILE[1]: HOSTILE[2]},
    )
    write_page(run_page(found), tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html") as visit:
        assert visit.page.locator("figure.drawing").count() == 8
        assert visit.page.locator("h1").inner_text().startswith(HOSTILE[0])
        assert visit.run("document.querySelectorAll('svg a, img, body b').length") == 0
        keys = visit.page.locator("#figure-map .legend button").all_text_contents()
        assert [key.lstrip("●") for key in keys] == list(VISIBLE)
        assert visit.plot("map").locator(".point").count() == nodes


def test_policy_stops_what_slips_through(browser: Any, file: Path) -> None:
    """Text that escaped its escaping would still not run."""
    with visiting(browser, file) as visit:
        visit.run(
            """async () => {
                const blocked = [];
                document.addEventListener("securitypolicyviolation",
                    (event) => blocked.push(event.violatedDirective));
                const script = document.createElement("script");
                script.textContent = "window.__hacked = 1";
                document.body.append(script);
                const image = new Image();
                image.src = "https://example.org/x.png";
                document.body.append(image);
                await new Promise((resolve) => setTimeout(resolve, 200));
                window.blocked = blocked;
            }"""
        )
        assert len(visit.run("window.blocked")) == 2
        assert visit.run("window.__hacked") is None
        visit.complaints.clear()
        visit.requests[1:] = []
