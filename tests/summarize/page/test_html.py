"""The page: complete, well formed, self-contained, and safe with any text."""

from html.parser import HTMLParser

import pytest

from stepgrid.package import TEMPLATES
from stepgrid.summarize.page import summary_text
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

VOID = {"meta", "br", "link", "img", "hr", "input"}
LOADING = {"src", "srcset", "data", "poster", "action", "background"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.loads, self.tags, self.words = [], [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]
        self._attributes(attrs)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self._attributes(attrs)

    def _attributes(self, attrs):
        for name, value in attrs:
            self.ids += [value] if name == "id" else []
            self.links += [value] if name.endswith("href") else []
            self.loads += [(name, value)] if name in LOADING else []
            assert not name.startswith("on"), f"a script in {name}"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    found = scenario.experiment(tmp_path_factory.mktemp("page"))
    scenario.report(found)
    return summary_text.page_path(found.store, "p-synthetic").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


def test_it_is_well_formed(page):
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_it_loads_nothing_and_runs_its_own_script_alone(source, page):
    assert page.loads == []
    beside = {"summary.txt", "tables/steps.parquet"}
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links if link not in beside)
    assert page.tags.count("script") == 1
    assert (TEMPLATES / "report" / "page.js").read_text(encoding="utf-8").strip() in source
    assert not {"link", "iframe", "object", "embed", "img", "image"} & set(page.tags)
    for word in ("http:", "https:", "@import", "url(http", "javascript:"):
        assert word not in source


def test_what_its_pictures_refer_to_is_in_them(source, page):
    import re

    assert set(re.findall(r"url\(#([^)]+)\)", source)) <= set(page.ids)


def test_the_answer_comes_first(page):
    first = "cache=hyper is faster than cache=lru at 2 of 2 points, 1.10× to 1.50×; strongest: readww, rocksdb-7.8.3"
    order = ["Incomplete: 6 of 54", first, "Before you believe it", "QPS relative to cache=lru", "Absolute figures"]
    assert sorted(order, key=page.text.index) == order


def test_every_status_and_reason_is_there(page):
    for text in (
        "failed 2 runs: readww: db_bench was killed by SIGKILL",
        "missing 4 runs: not run yet",
        "unsupported 12 runs: rocksdb-6.11.4 has no option cache_type",
        "rocksdb-6.11.4: Assertions are enabled; benchmarks unnecessarily slow",
        "‡ as shipped: rocksdb-7.8.3 and rocksdb-6.11.4 were built differently: suite bookworm / bullseye",
        "abab" * 16,
        "LC_ALL=C root/db_bench --benchmarks=readwhilewriting --num=1000 '--db=outputs/live/my data'",
        "includes the background writer, which qps does not",
        "spec specs/cache.yaml; plan p-synthetic; stepgrid 0.1.0",
    ):
        assert text.lower() in page.text.lower()


def test_the_host_s_name_stays_out(source):
    assert "bench-7" not in source


def test_a_chart_per_comparison_with_ratios_and_per_arm_over_time(page):
    comparisons, arms, times = 3 + 2, 2 + 2 * 5, 3
    assert page.tags.count("svg") == comparisons + arms + times


def test_text_of_others_is_only_text(tmp_path):
    evil = "<script>alert('x')</script> & \"'"
    found = Experiment(tmp_path, title=evil, caches=("lru", evil), threads=("1",), loads=1)
    found.add_build("rocksdb-7.8.3", warnings=[evil])
    found.add_load("rocksdb-7.8.3", 0)
    found.add("rocksdb-7.8.3", "lru", "1", 0, {"readww": 1000.0, "overwrite": 1000.0})
    found.add_failure("s-x", "unrelated")
    scenario.report(found)
    page = Page(summary_text.page_path(found.store, "p-synthetic").read_text(encoding="utf-8"))
    assert page.tags.count("script") == 1, "our own"
    assert page.text.count("<script>alert('x')</script>") >= 3


def test_series_too_short_for_a_line_are_said_to_be(tmp_path):
    found = Experiment(tmp_path, threads=("1",), loads=1, seconds=2)
    found.add_build("rocksdb-7.8.3")
    found.add_load("rocksdb-7.8.3", 0)
    for cache in found.caches:
        found.add("rocksdb-7.8.3", cache, "1", 0, {"readww": 1000.0, "overwrite": 1000.0})
    scenario.report(found)
    page = Page(summary_text.page_path(found.store, "p-synthetic").read_text(encoding="utf-8"))
    said = "QPS over time is not drawn: a run is so short that its series has 2 points."
    assert page.text.count(said) == 3
    assert page.tags.count("svg") == 2 + 2  # the ratios, and response times
