"""The page in a browser: its tables sort, filter and take another base; whole without scripts, on paper, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stepgrid.summarize.notes.arm_settings import ArmSettings
from stepgrid.summarize.page import html, summary_text
from tests.browser import PHONE, Page, browser
from tests.needs import needs
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

pytestmark = needs("chromium")
NEW = "rocksdb-7.8.3"
RATES = {"lru": 1000.0, "hyper": 1500.0, "tiny": 600.0}
ROWS = "[...document.querySelectorAll('#against-1 > .scroll tbody tr:not([hidden])')].map(row => "
TEXTS = f"{ROWS}[...row.cells].filter(cell => !cell.hidden).map(cell => cell.textContent).join(' | '))"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`hyper` gains with each thread; `tiny` failed with 8."""
    found = Experiment(tmp_path_factory.mktemp("page"), caches=tuple(RATES), threads=("1", "2", "8"), loads=3)
    found.add_build(NEW)
    for load, level in enumerate((1.0, 1.01, 0.99)):
        found.add_load(NEW, load)
        for cache, rate in RATES.items():
            for threads in found.threads:
                if (cache, threads) != ("tiny", "8"):
                    more = 1 + 0.1 * int(threads) if cache == "hyper" else 1.0
                    each = rate * more * level * int(threads)
                    found.add(NEW, cache, threads, load, {"readww": each, "overwrite": each / 2})
    found.add_failure(found.stage(NEW, "tiny", "8", 0), "db_bench was killed by SIGKILL")
    scenario.report(found)
    return summary_text.page_path(found.store, "p-synthetic")


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(tab: Page, path: Path) -> Page:
    """Scrolled to the first comparison, whose table has its controls then."""
    tab.open(path)
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    tab.run(
        "new Promise(done => { const look = () => document.querySelector('#against-1 .bar') ? done()"
        " : setTimeout(look, 20); look(); })"
    )
    return tab


def choose(page: Page, selector: str, value: str) -> None:
    page.run(
        f"(list => {{ list.value = {value!r}; list.dispatchEvent(new Event('change')); }})"
        f"(document.querySelector({selector!r}))"
    )


def sort(page: Page, column: int) -> list[str]:
    page.run(f"document.querySelectorAll('#against-1 .sort')[{column}].click()")
    found: list[str] = page.run(TEXTS)
    return found


def test_it_says_nothing_in_the_console_and_asks_for_nothing(page: Page, path: Path) -> None:
    assert page.complaints() == []
    assert page.requests() == [path.absolute().as_uri()]


def test_a_table_is_sorted_by_any_column(page: Page) -> None:
    before = page.run(TEXTS)
    assert before[0].startswith("readww | 1 | 1,000 | 1.65 ")
    assert [row.split(" | ")[3][:4] for row in sort(page, 3)] == ["2.70", "2.70", "1.80", "1.80", "1.65", "1.65"]
    assert page.run("document.querySelectorAll('#against-1 th')[3].ariaSort") == "descending"
    assert [row.split(" | ")[3][:4] for row in sort(page, 3)] == ["1.65", "1.65", "1.80", "1.80", "2.70", "2.70"]
    assert sort(page, 3) == before
    assert [row.split(" | ")[0] for row in sort(page, 0)][:3] == ["overwrite"] * 3
    assert [row.split(" | ")[4] for row in sort(page, 4)][-2:] == ["failed", "failed"], "what has no figure comes last"


def test_a_table_is_filtered_and_says_what_is_left(page: Page) -> None:
    choose(page, "#against-1 .controls label:nth-of-type(2) select", "=2")
    assert [row.split(" | ")[:2] for row in page.run(TEXTS)] == [["readww", "2"], ["overwrite", "2"]]
    assert page.run("document.querySelector('#against-1 .count').textContent") == "2 of 6 rows"
    choose(page, "#against-1 .controls label:nth-of-type(2) select", "")
    assert len(page.run(TEXTS)) == 6


def test_columns_are_chosen(page: Page) -> None:
    page.run("document.querySelectorAll('#against-1 fieldset input')[1].click()")
    assert page.run(TEXTS)[0] == "readww | 1 | 1,000 | 0.600 [0.598, 0.602] slower"
    page.run("document.querySelectorAll('#against-1 fieldset input')[1].click()")
    assert page.run(TEXTS)[0].count("|") == 4


def test_another_base_has_ratios_and_no_verdicts(page: Page) -> None:
    before = page.run(TEXTS)
    choose(page, "#against-1 .bar > label select", "3")
    after = page.run(TEXTS)
    assert after[0] == "readww | 1 | 1,000 (0.61×) | base | 0.36×"
    assert after[2].endswith("| base | failed")
    note = "Ratios to cache=hyper, from those to cache=lru; intervals and verdicts are known against cache=lru alone."
    assert page.run("document.querySelector('#against-1 p.note').textContent") == note
    choose(page, "#against-1 .bar > label select", "")
    assert page.run(TEXTS) == before


def test_the_keyboard_reaches_what_the_mouse_does(page: Page) -> None:
    page.run("document.querySelectorAll('#against-1 .sort')[2].focus()")
    for kind in ("keyDown", "keyUp"):
        page.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    assert [row.split(" | ")[2] for row in page.run(TEXTS)][:2] == ["8,000", "4,000"]


def test_each_entry_of_the_contents_leads_somewhere(page: Page) -> None:
    script = "[...document.querySelectorAll('nav a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).length"
    assert page.run(script) == 0
    assert page.run("document.querySelectorAll('nav a[href^=\"#\"]').length") >= 7


def test_without_scripts_everything_is_there(tab: Page, path: Path) -> None:
    tab.open(path, scripts=False)
    assert tab.run("document.querySelector('.bar')") is None
    assert tab.run("document.querySelectorAll('#against-1 > .scroll tbody tr').length") == 6
    assert tab.run("document.querySelector('#answer').innerText").count("is faster than") == 1


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_nothing_is_cut(tab: Page, path: Path, dark: bool) -> None:
    """A table that is wider than the screen scrolls by itself."""
    tab.open(path, PHONE, dark=dark)
    assert tab.run("document.documentElement.scrollWidth") == PHONE
    assert tab.run("innerWidth") == PHONE
    assert tab.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(21, 23, 26)" if dark else "rgb(255, 255, 255)"
    )


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_a_long_value_covers_nothing(tab: Page, tmp_path: Path, width: int) -> None:
    long = ";".join(f"max_bytes_for_level_{at}=16777216" for at in range(12))
    settings = ArmSettings("data", ("cached", "io-bound"), (("rocksdb_default_cf_options", ("not set", long)),))
    found = scenario.report(scenario.experiment(tmp_path))
    (tmp_path / "page.html").write_text(html.page(scenario.altered(found, settings=(settings,))), encoding="utf-8")
    tab.open(tmp_path / "page.html", width)
    places = tab.run("[...document.querySelectorAll('#settings tbody th')].map(cell => cell.getBoundingClientRect().x)")
    ends = tab.run(
        "[...document.querySelectorAll('#settings tbody th')].map(cell => cell.getBoundingClientRect().right)"
    )
    assert len(places) == 3
    assert all(end <= place for end, place in zip(ends, places[1:], strict=False))
    assert ends[-1] <= width


def test_on_paper_there_are_no_controls(tab: Page, path: Path) -> None:
    tab.open(path, media="print")
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    assert tab.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert tab.paper().startswith(b"%PDF-")
