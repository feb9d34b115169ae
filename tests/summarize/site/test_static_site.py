from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from stepgrid.summarize.site import static_site
from stepgrid.summarize.site.experiment import folders
from stepgrid.summarize.site.static_site import NotASite
from tests.summarize.site.made_site import TITLE, entries, site

ATOM = "{http://www.w3.org/2005/Atom}"


def links(page: Path) -> list[str]:
    return [each for each in re.findall(r'href="([^"]*)"', page.read_text()) if not each.startswith("#")]


def test_every_link_of_the_index_leads_somewhere(tmp_path: Path) -> None:
    site(tmp_path, tmp_path / "web")
    found = links(tmp_path / "web/index.html")
    assert {"cache/index.html", "ladder-smoke/index.html", "cache/summary.txt", "cache/tables/steps.parquet"} < {*found}
    assert [each for each in found if not (tmp_path / "web" / each.partition("#")[0]).is_file()] == []


def test_what_names_the_host_is_not_published(tmp_path: Path) -> None:
    site(tmp_path, tmp_path / "web")
    assert (tmp_path / "caches/outputs/summary/p-synthetic/tables/environment.parquet").is_file()
    assert {path.name for path in (tmp_path / "web").rglob("*.parquet")} & {
        "environment.parquet",
        "history.parquet",
    } == set()


def test_an_entry_begins_with_the_answer(tmp_path: Path) -> None:
    site(tmp_path, tmp_path / "web")
    text = (tmp_path / "web/index.html").read_text()
    assert f"<h1>{TITLE}</h1>\n<p>2 experiments, newest first." in text
    assert (
        '<h2><a href="cache/index.html">LRU against hyper-clock cache</a></h2>\n<ul class="findings">\n<li class="'
        in text
    )
    assert "<dt>Measured</dt><dd>2026-11-20</dd>" in text
    changed = "<li>from <code>rocksdb-8.9.1</code> on: readww, threads=2 0.900 [0.897, 0.902] slower</li>"
    assert f'<h3><a href="ladder-smoke/index.html#changes">A ladder</a></h3>\n<ul>\n{changed}\n' in text
    hosts = text.partition('<section id="hosts">')[2]
    assert "<dt>AMD EPYC 7763, 2 cores, 8 GiB, xfs on nvme0n1, kernel 6.1.0</dt>" in hosts
    assert '<a href="#cache">LRU against hyper-clock cache</a>; <a href="#ladder-smoke">A ladder</a>' in hosts
    assert "bench-7" not in text, "the host's name"


def test_the_feed_is_atom(tmp_path: Path) -> None:
    site(tmp_path, tmp_path / "web")
    feed = ET.parse(tmp_path / "web/feed.xml").getroot()
    assert feed.tag == f"{ATOM}feed"
    assert [feed.findtext(f"{ATOM}{name}") for name in ("title", "id")] == [TITLE, "https://bench.example/feed.xml"]
    entries = feed.findall(f"{ATOM}entry")
    assert {each.findtext(f"{ATOM}title") for each in entries} == {"A ladder", "LRU against hyper-clock cache"}
    for each in entries:
        link = each.find(f"{ATOM}link")
        assert link is not None
        assert link.get("href", "").startswith("https://bench.example/")
        assert re.fullmatch(r"2026-11-20T\d\d:\d\d:\d\dZ", each.findtext(f"{ATOM}updated") or "")
        assert each.findtext(f"{ATOM}summary")


def test_what_is_no_experiment_any_more_goes(tmp_path: Path) -> None:
    found = site(tmp_path, tmp_path / "web")
    (tmp_path / "web/notes").mkdir()
    (tmp_path / "web/notes/mine.html").write_text("mine")
    static_site.write(tmp_path / "web", TITLE, None, found[:1])
    there = sorted(path.name for path in (tmp_path / "web").iterdir())
    assert there == [".stepgrid-site", "cache", "feed.xml", "index.html", "notes"]


def test_nothing_of_somebody_else_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web/index.html").write_text("mine")
    with pytest.raises(NotASite) as caught:
        static_site.write(tmp_path / "web", TITLE, None, ())
    assert str(caught.value) == f"{tmp_path / 'web'} is no site, and not empty: nothing is written over it"
    assert (tmp_path / "web/index.html").read_text() == "mine"


def test_experiments_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (one, *_) = entries(tmp_path)
    assert folders([one.report, one.report]) == ["cache-p-synthe", "cache-p-synthe-2"]
    assert folders([one.report]) == ["cache"]
