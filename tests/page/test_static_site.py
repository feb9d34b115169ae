"""The site of several experiments: index, pages, pictures, feed; what it publishes and what it leaves alone."""

import re
import xml.etree.ElementTree as ET

import pytest

from stepgrid.host.products import OccupiedError
from stepgrid_page import static_site
from stepgrid_page.folders import MANIFEST
from stepgrid_page.static_site import SiteEntry as Entry
from stepgrid_page.static_site import folder_names
from tests.browser import PHONE, browser
from tests.needs import needs
from tests.summarize import scenario
from tests.summarize.comparisons import made_ladder
from tests.summarize.synthetic import Experiment

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Make a site in `web`, beside the stores of its experiments."""
    folder = tmp_path_factory.mktemp("site")
    site(folder, folder / "web")
    return folder


def test_every_link_of_the_index_leads_somewhere(root):
    page = (root / "web/index.html").read_text()
    links = [link for link in re.findall(r'href="([^"]*)"', page) if not link.startswith("#")]
    assert {"cache/index.html", "ladder-smoke/index.html", "cache/summary.txt", "cache/tables/steps.parquet"} < {*links}
    assert [link for link in links if not (root / "web" / link.partition("#")[0]).is_file()] == []


def test_files_that_name_the_host_are_not_published(root):
    assert (root / "caches/outputs/summary/p-synthetic/tables/environment.parquet").is_file()
    published = {path.name for path in (root / "web").rglob("*.parquet")}
    assert published & {"environment.parquet", "history.parquet"} == set()


def test_an_entry_begins_with_its_answers_and_has_its_chart(root):
    text = (root / "web/index.html").read_text()
    assert f'<h1>{TITLE}</h1>\n<p class="sub">2 experiments, newest first.' in text
    heading = (
        '<h2><a href="cache/index.html">LRU against hyper-clock cache</a></h2>\n<ul class="findings">\n<li class="'
    )
    assert heading in text
    assert "<dt>Measured</dt><dd>2026-11-20</dd>" in text
    assert text.count('<svg class="chart"') == 2
    changed = "<li>from <code>rocksdb-8.9.1</code> on: readww, threads=2 0.900 [0.897, 0.902] slower</li>"
    assert f'<h3><a href="ladder-smoke/index.html#changes">A ladder</a></h3>\n<ul>\n{changed}\n' in text
    hosts = text.partition('<section id="hosts">')[2]
    assert "<dt>AMD EPYC 7763, 2 cores, 8 GiB, xfs on nvme0n1, kernel 6.1.0</dt>" in hosts
    assert '<a href="#cache">LRU against hyper-clock cache</a>; <a href="#ladder-smoke">A ladder</a>' in hosts
    assert "bench-7" not in text, "the host's name"


def test_the_feed_is_atom(root):
    feed = ET.parse(root / "web/feed.xml").getroot()
    assert feed.tag == f"{ATOM}feed"
    assert [feed.findtext(f"{ATOM}{name}") for name in ("title", "id")] == [TITLE, "https://bench.example/feed.xml"]
    feed_entries = feed.findall(f"{ATOM}entry")
    assert {entry.findtext(f"{ATOM}title") for entry in feed_entries} == {"A ladder", "LRU against hyper-clock cache"}
    for entry in feed_entries:
        link = entry.find(f"{ATOM}link")
        assert link.get("href", "").startswith("https://bench.example/")
        assert re.fullmatch(r"2026-11-20T\d\d:\d\d:\d\dZ", entry.findtext(f"{ATOM}updated") or "")
        assert entry.findtext(f"{ATOM}summary")


def test_an_experiment_that_left_is_removed_and_nothing_else(tmp_path):
    members = site(tmp_path, tmp_path / "web")
    assert folder_names([scenario.altered(members[0].report, spec="history.yaml")]) == ["history-p-synthe"]
    (tmp_path / "web/notes").mkdir()
    (tmp_path / "web/notes/mine.html").write_text("mine")
    static_site.write(tmp_path / "web", TITLE, None, members[:1])
    names = sorted(path.name for path in (tmp_path / "web").iterdir())
    assert names == [MANIFEST, "cache", "feed.xml", "index.html", "notes"]


def test_files_of_others_are_not_written_over(tmp_path):
    (tmp_path / "web").mkdir()
    (tmp_path / "web/index.html").write_text("mine")
    with pytest.raises(OccupiedError) as caught:
        static_site.write(tmp_path / "web", TITLE, None, ())
    assert str(caught.value) == f"{tmp_path / 'web'} holds files that stepgrid did not write there"
    assert (tmp_path / "web/index.html").read_text() == "mine"


@needs("chromium")
def test_the_index_is_quiet_and_fits_a_phone(root, tmp_path):
    index = root / "web/index.html"
    with browser(tmp_path / "profile") as page:
        page.open(index)
        assert page.complaints() == []
        assert page.requests() == [index.absolute().as_uri()]
        assert page.run("document.title") == TITLE
        page.open(index, width=PHONE)
        assert page.run("document.documentElement.scrollWidth") <= PHONE


# A site of two experiments, one of them a ladder of versions.

TITLE = "What we measured"


def entries(root):
    sides = []
    made = scenario.experiment(root / "caches")
    sides.append((scenario.report(made), made.store.tables(made.plan.digest)))
    ladder = made_ladder.measured(root / "ladder", made_ladder.RATES)
    tables = Experiment(root / "ladder", builds=made_ladder.BUILDS).store.tables("p-synthetic")
    sides.append((scenario.altered(ladder, title="A ladder", spec="specs/ladder.yaml", scale="smoke"), tables))
    names = folder_names([report for report, _ in sides])
    return [Entry(name, report, tables) for name, (report, tables) in zip(names, sides, strict=True)]


def site(root, folder):
    found = entries(root)
    static_site.write(folder, TITLE, "https://bench.example/", found)
    return found
