"""The page in a browser: within its budget, controls work, and it is whole without scripts, on paper, on a phone."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepgrid.store.store import SummaryFiles
from tests.browser import PHONE, Page, browser
from tests.measure_page import BUDGET, PART, SCREEN, measure
from tests.needs import needs
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

pytestmark = needs("chromium")
RATES = {"lru": 1000.0, "hyper": 1500.0, "tiny": 600.0}
ROWS = "[...document.querySelectorAll('#against-1 > .scroll tbody tr:not([hidden])')].map(row => "
TEXTS = f"{ROWS}[...row.cells].filter(cell => !cell.hidden).map(cell => cell.innerText.trim()).join(' | '))"


def measured(folder: Path, builds: int = 1, threads: int = 3, loads: int = 3) -> Experiment:
    """Make up an experiment in which `hyper` gains with each thread, and `tiny` failed with 8."""
    names = tuple(f"rocksdb-7.8.{3 + number}" for number in range(builds))
    counts = ("1", "2", "8", *map(str, range(9, 6 + threads)))[:threads]
    experiment = Experiment(folder, builds=names, caches=tuple(RATES), threads=counts, loads=loads)
    for build in names:
        experiment.add_build(build, quality={"route": "debian", "suite": "bookworm"})
        for load, level in enumerate((1.0, 1.01, 0.99)[:loads]):
            experiment.add_load(build, load)
            for cache, rate in RATES.items():
                for count in counts:
                    if (cache, count) != ("tiny", "8"):
                        gain = 1 + 0.1 * int(count) if cache == "hyper" else 1.0
                        qps = rate * gain * level * int(count)
                        experiment.add(build, cache, count, load, {"readww": qps, "overwrite": qps / 2})
    experiment.add_failure(experiment.stage(names[0], "tiny", "8", 0), "db_bench was killed by SIGKILL")
    return experiment


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    experiment = measured(tmp_path_factory.mktemp("page"))
    scenario.report(experiment)
    return SummaryFiles.of(experiment.store, "p-synthetic").page


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(tab: Page, path: Path) -> Page:
    open_table(tab, path)
    return tab


def open_table(tab: Page, path: Path, fragment: str = "") -> None:
    """Scroll to the table to paste, which has its controls then."""
    tab.open(path, fragment=fragment)
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    tab.run(
        "new Promise(done => { const look = () => document.querySelector('#against-1 .bar') ? done()"
        " : setTimeout(look, 20); look(); })"
    )


def choose(page: Page, selector: str, value: str) -> None:
    page.run(
        f"(list => {{ list.value = {value!r}; list.dispatchEvent(new Event('change')); }})"
        f"(document.querySelector({selector!r}))"
    )


def sort(page: Page, column: int) -> list[str]:
    page.run(f"document.querySelectorAll('#against-1 .sort')[{column}].click()")
    texts: list[str] = page.run(TEXTS)
    return texts


# Its size


@pytest.mark.parametrize(
    ("builds", "threads", "loads"), [(1, 3, 3), (6, 12, 2), (1, 1, 1), (2, 3, 1)], ids=["small", "grid", "one", "try"]
)
def test_a_page_keeps_its_budget_whatever_the_grid(
    tab: Page, tmp_path: Path, builds: int, threads: int, loads: int
) -> None:
    experiment = measured(tmp_path, builds, threads, loads)
    scenario.report(experiment)
    for width in (SCREEN, PHONE):
        figures = measure(tab, SummaryFiles.of(experiment.store, "p-synthetic").page, width)
        assert {name: figures[name] for name in BUDGET if figures[name] > BUDGET[name]} == {}
        assert figures["first chart ends in"] > PART
        assert figures["width"] <= width


# Its controls


def test_it_says_nothing_in_the_console_and_asks_for_nothing(page: Page, path: Path) -> None:
    page.run("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert page.complaints() == []
    assert page.requests() == [path.absolute().as_uri()]


def test_a_table_is_sorted_by_any_column(page: Page) -> None:
    before = page.run(TEXTS)
    assert before[0] == "readww | 1 | 1.00k ± 3 % | 1.65k ▲ 1.65× | 600 ▼ 0.60×"
    ratios = [row.split(" | ")[3].split()[-1] for row in sort(page, 3)]
    assert ratios == ["2.70×", "2.70×", "1.80×", "1.80×", "1.65×", "1.65×"]
    assert page.run("document.querySelectorAll('#against-1 th')[3].ariaSort") == "descending"
    assert page.run("location.hash") == "#against-1.sort=3d"
    assert [row.split(" | ")[3].split()[-1] for row in sort(page, 3)] == ratios[::-1]
    assert sort(page, 3) == before
    assert [row.split(" | ")[0] for row in sort(page, 0)][:3] == ["overwrite"] * 3
    assert [row.split(" | ")[4] for row in sort(page, 4)][-2:] == ["failed", "failed"], "what has no figure comes last"


def test_a_table_is_filtered_and_the_address_keeps_it(page: Page, path: Path) -> None:
    choose(page, "#against-1 .controls label:nth-of-type(2) select", "=2")
    assert [row.split(" | ")[:2] for row in page.run(TEXTS)] == [["readww", "2"], ["overwrite", "2"]]
    assert page.run("document.querySelector('#against-1 .count').textContent") == "2 of 6 rows"
    address = page.run("location.hash")
    open_table(page, path)
    assert len(page.run(TEXTS)) == 6
    open_table(page, path, address)
    assert len(page.run(TEXTS)) == 2


def test_another_base_has_ratios_and_no_verdicts(page: Page) -> None:
    before = page.run(TEXTS)
    choose(page, "#against-1 .bar > label select", "3")
    after = page.run(TEXTS)
    assert after[0] == "readww | 1 | 1.00k ± 3 % 0.61× | 1.65k base | 600 0.36×"
    assert after[2].endswith("base | failed")
    note = "Ratios to cache=hyper, from those to cache=lru; intervals and verdicts are known against cache=lru alone."
    assert page.run("document.querySelector('#against-1 p.note').textContent") == note
    choose(page, "#against-1 .bar > label select", "")
    assert page.run(TEXTS) == before


def test_a_chart_is_saved_as_a_picture(page: Page) -> None:
    page.run(
        "window.saved = [];"
        "HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); };"
        "['SVG', 'PNG'].forEach(name => [...document.querySelectorAll('#answer .tools button')]"
        ".find(one => one.textContent === name).click())"
    )
    page.run("new Promise(done => { const look = () => saved.length > 1 ? done() : setTimeout(look, 20); look(); })")
    files = dict(page.run("saved"))
    assert files["qps.svg"].startswith("data:image/svg+xml")
    assert "var(" not in files["qps.svg"]
    image = base64.b64decode(files["qps.png"].partition(",")[2])
    assert image.startswith(b"\x89PNG")
    assert len(image) > 10_000
    assert page.complaints() == []


# Its forms


def test_without_scripts_everything_is_there(tab: Page, path: Path) -> None:
    tab.open(path, scripts=False)
    assert tab.run("document.querySelector('.tools')") is None
    assert tab.run("document.querySelectorAll('#against-1 > .scroll tbody tr').length") == 6
    assert tab.run("document.querySelectorAll('#answer svg').length") == 6
    assert tab.run("document.querySelectorAll('.rest > details > summary').length") >= 8


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_nothing_is_cut(tab: Page, path: Path, dark: bool) -> None:
    """A table that is wider than the screen scrolls by itself."""
    tab.open(path, PHONE, dark=dark)
    tab.run("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert tab.run("document.documentElement.scrollWidth") == PHONE
    paper = "rgb(21, 23, 26)" if dark else "rgb(255, 255, 255)"
    assert tab.run("getComputedStyle(document.body).backgroundColor") == paper


def test_on_paper_there_are_no_controls_and_no_commands(tab: Page, path: Path) -> None:
    tab.open(path, media="print")
    tab.run("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    assert tab.run("getComputedStyle(document.querySelector('.commands')).display") == "none"
    assert tab.run("[...document.querySelectorAll('.tools, .bar')].every(one => !one.checkVisibility())")
    assert tab.paper().startswith(b"%PDF-")
