"""The pages of the gallery, of real runs, in a browser: quiet, alive, whole without scripts, on paper, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import PHONE, Page, browser
from tests.needs import needs

pytestmark = needs("chromium")
GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
PAGES = sorted(GALLERY.glob("*.html"))
ROWS = "[...document.querySelectorAll('#against-1 > .scroll tbody tr:not([hidden])')]"
CELLS = f"{ROWS}.map(row => [...row.cells].map(cell => cell.textContent).join(' | '))"
BAR = """new Promise(done => {
    const look = () => document.querySelector('#against-1 .bar') ? done() : setTimeout(look, 20); look(); })"""
CHOICE = """(list => {{ list.value = list.options[{at}].value; list.dispatchEvent(new Event('change')); }})
    (document.querySelector({selector!r}))"""

COVERED = """[...document.querySelectorAll('.scroll')].map(box => {
    const cells = [...(box.querySelector('tbody tr') || {cells: []}).cells];
    const still = cells.filter(cell => getComputedStyle(cell).position === 'sticky');
    const taken = still.reduce((sum, cell) => sum + cell.offsetWidth, 0);
    const isWide = box.scrollWidth > box.clientWidth && box.clientWidth > 0;
    return isWide && taken > 0.67 * box.clientWidth ? box.innerText.slice(0, 60) : ''; }).filter(Boolean)"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture(params=PAGES, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_it_is_quiet_and_every_link_leads_somewhere(tab: Page, path: Path) -> None:
    tab.open(path)
    assert tab.complaints() == []
    assert tab.requests() == [path.absolute().as_uri()]
    assert tab.run("document.querySelectorAll('svg[role=img]').length") > 0
    links = tab.run("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert [link for link in links if link.startswith("#") and not tab.run(f"!!document.querySelector({link!r})")] == []
    assert [link for link in links if not link.startswith("#")] == [], "it stands alone"


def test_a_table_is_sorted_filtered_and_takes_another_base(tab: Page, path: Path) -> None:
    tab.open(path)
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    tab.run(BAR)
    before = tab.run(CELLS)
    last = tab.run("document.querySelectorAll('#against-1 > .scroll .sort').length") - 1
    found = []
    for _ in ("downwards", "upwards"):
        tab.run(f"document.querySelectorAll('#against-1 > .scroll .sort')[{last}].click()")
        found.append(tab.run(CELLS))
    assert found[0] != found[1]
    assert sorted(found[0]) == sorted(found[1]) == sorted(before)
    tab.run(CHOICE.format(at=1, selector="#against-1 .controls label select"))
    assert 0 < len(tab.run(CELLS)) < len(before)
    tab.run(CHOICE.format(at=0, selector="#against-1 .controls label select"))
    if tab.run("document.querySelector('#against-1 .bar > label select')") is not None:  # not of ratios over all points
        tab.run(CHOICE.format(at=1, selector="#against-1 .bar > label select"))
        assert " base" in "".join(tab.run(CELLS))


def test_without_scripts_everything_is_there(tab: Page, path: Path) -> None:
    tab.open(path, scripts=False)
    assert tab.run("document.querySelector('.bar')") is None
    assert len(tab.run(CELLS)) > 1
    assert " the QPS" in tab.run("document.querySelector('#answer').innerText")


def test_on_a_phone_and_on_paper_nothing_is_cut(tab: Page, path: Path) -> None:
    tab.open(path, PHONE)
    assert tab.run("document.documentElement.scrollWidth") == PHONE
    tab.open(path, media="print")
    assert tab.paper().startswith(b"%PDF-")


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_what_stays_in_sight_of_a_wide_table_leaves_room_for_the_rest(tab: Page, path: Path, width: int) -> None:
    tab.open(path, width)
    tab.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert tab.run(COVERED) == []
