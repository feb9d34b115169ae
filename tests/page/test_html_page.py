"""The page as a file: complete, in its order, well formed, self-contained, and safe with any text."""

import base64
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from stepgrid.model.records import replace
from stepgrid.package import TEMPLATES
from stepgrid.store.plans import Request
from stepgrid.store.store import SummaryFiles
from stepgrid.summarize import absolute_figures, report_files
from stepgrid.summarize.notes import Doubt
from stepgrid_page import html_page
from tests.summarize import scenario, synthetic
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

VOID = {"meta", "br", "link", "img", "hr", "input"}
LOADING = {"src", "srcset", "data", "poster", "action", "background"}
WHERE = {"step": "readww", "threads": "1", "build": NEW}
CLAIMS = (
    {"claim": "hyper wins", "expect": "qps(cache='hyper') >= 1.2 * qps(cache='lru')", "where": WHERE},
    {"claim": "lru <wins>", "expect": "qps(cache='hyper') < qps(cache='lru')", "where": WHERE},
)
TABLES = ({"title": "by cache", "rows": ["cache"], "where": WHERE},)


class Page(HTMLParser):
    """A page whose elements are closed in their order, its addresses and its words."""

    def __init__(self, text):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str | None] = []
        self.links: list[str] = []
        self.loads: list[tuple[str, str | None]] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open += [] if tag in VOID else [tag]
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.ids += [value] if name == "id" else []
            self.links += [value or ""] if name.endswith("href") else []
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
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return scenario.report(scenario.experiment(folder, claims=CLAIMS, tables=TABLES))


@pytest.fixture(scope="module")
def source(report):
    return html_page.page(report)


@pytest.fixture(scope="module")
def page(source):
    return Page(source)


def test_it_is_well_formed(page):
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_it_loads_nothing_and_runs_its_own_script_alone(source, page):
    assert page.loads == []
    files = {"summary.txt", "tables/steps.parquet"}
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links if link not in files)
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert (TEMPLATES / "report" / "page.js").read_text(encoding="utf-8").strip() in source
    assert not {"link", "iframe", "object", "embed", "img", "image"} & set(page.tags)
    without_script = re.sub(r"<script>.*</script>", "", source, flags=re.DOTALL)
    for word in ("http:", "https:", "@import", "url(", "javascript:"):
        assert word not in without_script


def test_answer_doubts_chart_table_and_claims_come_in_this_order_and_the_rest_is_closed(source):
    places = [
        "<h1>LRU against hyper-clock cache</h1>",
        "6 of 54 measured steps",
        '<div class="card faster">',
        '<details class="care" id="doubts">',
        '<figure class="picture" id="chart-qps">',
        "<h2>QPS and ratio to cache=lru</h2>",
        '<figure class="picture" id="chart-qps-of-rocksdb-6.11.4-relative-to-rocksdb-7.8.3">',
        "<h2>Claims 2: ✔ 1 holds ✘ 1 fails</h2>",
        "<summary>Latency</summary>",
        "<summary>Each step in full</summary>",
        "<summary>Options and commands</summary>",
        "<summary>Method and words</summary>",
        "<summary>Setup and reproduce</summary>",
    ]
    assert sorted(places, key=source.index) == places
    assert " open>" not in source


def test_every_status_and_reason_is_there(page):
    for text in (
        "failed 2 runs: readww: db_bench was killed by SIGKILL",
        "missing 4 runs: not run yet",
        "unsupported 12 runs: rocksdb-6.11.4 has no option cache_type",
        "rocksdb-6.11.4: Assertions are enabled; benchmarks unnecessarily slow",
        "suite bullseye",
        "abab" * 16,
        "LC_ALL=C root/db_bench --benchmarks=readwhilewriting --num=1000 '--db=outputs/live/my data'",
        "spec specs/cache.yaml; plan p-synthetic; stepgrid 0.1.0",
        "1.50 [1.49, 1.51]",
    ):
        assert text.lower() in page.text.lower()


def test_each_column_of_the_figures_is_explained(report, source):
    meanings = dict(absolute_figures.meanings(report))
    assert meanings["CPU/op"].startswith("cpu_seconds / operations, ")
    assert "tombstones" not in meanings, "no table has it"
    assert f"<dt>CPU/op</dt><dd>{meanings['CPU/op']}</dd>" in source


def test_the_host_s_name_stays_out(source):
    assert "bench-7" not in source


def test_one_load_is_a_try_without_verdicts(tmp_path):
    experiment = Experiment(tmp_path, threads=("1",), loads=1)
    experiment.add_build(NEW)
    experiment.add_load(NEW, 0)
    for cache, qps in zip(experiment.caches, (1000.0, 1500.0), strict=True):
        experiment.add(NEW, cache, "1", 0, {"readww": qps, "overwrite": qps})
    source = html_page.page(scenario.report(experiment))
    assert source.count("A try: one load, no verdicts and no causes") == 1
    table = source[source.index("<h2>QPS and ratio") : source.index("One load of each")]
    assert "one load" not in table
    assert ">1.50k</span>" in table


def test_another_base_has_the_commands_of_the_request_and_doubts_of_its_own(tmp_path, monkeypatch):
    request = Request("specs/cache.yaml", only="c-7.8.3-*", sets=("keys=1M",))
    monkeypatch.setattr(report_files, "newest_request", lambda *_: request)
    experiment = Experiment(tmp_path, caches=("lru", "hyper", "clock"), threads=("1",))
    experiment.add_build(NEW, warnings=["an old compiler"])
    for load, level in enumerate(scenario.LEVELS):
        experiment.add_load(NEW, load)
        for cache, qps in (("lru", 1000.0 * level), ("hyper", 1500.0 * level), ("clock", 0.0 if load else 900.0)):
            experiment.add(NEW, cache, "1", load, {"readww": qps, "overwrite": 1000.0 * level})
    report = scenario.report(experiment)
    source = html_page.page(report)
    actions = re.findall(r'<dl class="action" data-for-base="(\w+)".*?</dl>', source)
    commands = re.findall(r"<dd><code>stepgrid (?:run|redo) ([^<]*)", source)
    assert actions == ["lru", "hyper", "clock"]
    assert len(commands) >= len(actions)
    assert all("--only" in command and "--set keys=1M" in command for command in commands), commands
    assert source.count('<details class="care" id="doubts">') == 1, "all bases have the same"
    notes = replace(report.notes, doubts=(Doubt("far off", "load 2 is far off"), *report.notes.doubts))
    source = html_page.page(replace(report, notes=notes))
    boxes = re.findall(r'<details class="care" id="(\S+)" data-for-base="(\w+)"( hidden)?>', source)
    assert boxes == [("doubts", "lru", ""), ("doubts-2", "hyper", " hidden"), ("doubts-3", "clock", " hidden")]


def test_text_of_others_is_only_text(tmp_path, monkeypatch):
    monkeypatch.setitem(synthetic.HOST, "measured_by", "O'Hara <b>")
    evil = "<script>alert('x')</script> & \"'"
    experiment = Experiment(tmp_path, title=evil, caches=("lru", evil), threads=("1",), loads=1)
    experiment.add_build(NEW, warnings=[evil])
    experiment.add_load(NEW, 0)
    experiment.add(NEW, "lru", "1", 0, {"readww": 1000.0, "overwrite": 1000.0})
    experiment.add_failure("s-x", "unrelated")
    scenario.report(experiment)
    page = Page(SummaryFiles.of(experiment.store, "p-synthetic").page.read_text(encoding="utf-8"))
    assert page.tags.count("script") == 1, "our own"
    assert page.text.count("<script>alert('x')</script>") >= 3
    assert ", by O'Hara <b>" in page.text


def test_the_policy_has_the_checksums_of_the_page_s_own_script_and_style():
    texts = html_page.policy()
    for name in ("style", "script"):
        digest = b64encode(sha256(texts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in texts["policy"]
    assert texts["policy"].startswith("default-src 'none'; ")
    assert "unsafe" not in texts["policy"]
    assert "img-src" not in html_page.policy(script=False)["policy"], "pictures are made by the script alone"


def test_templates_have_no_script_or_style_beside_them():
    for name in ("report/index.html.j2", "report/bisect.html.j2", "site/index.html.j2"):
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        assert text.count('<meta http-equiv="Content-Security-Policy" content="{{ policy }}">') == 1
        assert re.findall(r"<style[^>]*>.*", text) == ["<style>{{ style }}</style>"]
        assert set(re.findall(r"<script[^>]*>.*", text)) <= {"<script>{{ script }}</script>"}
        assert not re.search(r" style=| on\w+=|javascript:|\bsrc=", text)


def test_fragment_has_answer_chart_and_table(tmp_path):
    text = html_page.fragment(scenario.report(scenario.experiment(tmp_path, title="LRU <b> & hyper")))
    section = ElementTree.fromstring(text.replace('%">', '%"/>').replace('auto">', 'auto"/>'))
    assert section.tag == "section"
    assert section.findtext("h2") == "LRU <b> & hyper"
    assert "cache=hyper" in (section.findtext("ul/li/strong") or "")
    assert [cell.text for cell in section.findall("table/thead/tr/th")][-2:] == ["cache=lru", "cache=hyper"]
    assert not re.search(r"<script|<style|<link|href=| src=\"(?!data:)", text)
    picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    assert ElementTree.fromstring(base64.b64decode(picture[1])).tag == "{http://www.w3.org/2000/svg}svg"
    assert "plan p-synthetic" in text


def test_fragment_of_nothing_measured(tmp_path):
    experiment = scenario.Experiment(tmp_path)
    experiment.add_build(experiment.builds[0])
    assert "<img" not in html_page.fragment(scenario.report(experiment))


STYLE = "".join((TEMPLATES / "report" / name).read_text(encoding="utf-8") for name in ("chart.css", "style.css"))
ROOTS = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)


def variables(text):
    return dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]+)", text))


LIGHT, DARK = (variables(ROOTS[at] + ROOTS[at + 3]) for at in (0, 1))


def test_no_colour_is_written_elsewhere():
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[^{}]*\})", rest) == []
    script = (TEMPLATES / "report" / "page.js").read_text(encoding="utf-8")
    assert set(re.findall(r"var\((--[a-z0-9-]+)\)", rest + script)) == set(LIGHT)


def test_light_and_dark_have_the_same_ones_and_none_is_equal():
    assert LIGHT.keys() == DARK.keys()
    assert [name for name in LIGHT if LIGHT[name] == DARK[name]] == []


def luminance(colour):
    """By WCAG 2.1; `#abc` is `#aabbcc`."""
    digits = colour.removeprefix("#")
    whole = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    parts = [int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_words_can_be_read_on_what_is_behind_them():
    """4.5 to 1, as WCAG asks for."""
    words = {
        "--paper": ("--ink", "--soft", "--better", "--worse", "--link"),
        "--card": ("--ink", "--soft", "--better", "--worse"),
        "--care": ("--ink", "--care-ink"),
        "--greyed": ("--soft",),
        **dict.fromkeys(("--less", "--more", "--code", "--lit"), ("--ink",)),
    }
    for colours in (LIGHT, DARK):
        ratios = {
            (behind, word): contrast(colours[word], colours[behind]) for behind in words for word in words[behind]
        }
        assert {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < 4.5} == {}
