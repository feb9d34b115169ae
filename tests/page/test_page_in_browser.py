"""The page in a browser: within its budget, controls work, and it is whole without scripts, on paper, on a phone."""

import base64
from functools import partial
from itertools import product

import pytest

from stepgrid.store.store import SummaryFiles
from tests.browser import PHONE, browser
from tests.measure_page import BUDGET, PART, SCREEN, measure
from tests.needs import needs
from tests.summarize import scenario
from tests.summarize.comparisons.made_ladder import BUILDS
from tests.summarize.synthetic import ASSERTIONS, Experiment

pytestmark = needs("chromium")
RATES = {"lru": 1000.0, "hyper": 1500.0, "tiny": 600.0}
ROWS = "[...document.querySelectorAll('#against-1 > .scroll tbody tr:not([hidden])')].map(row => "
TEXTS = f"{ROWS}[...row.cells].filter(cell => !cell.hidden).map(cell => cell.innerText.trim()).join(' | '))"


def measured(folder, builds=1, threads=3, loads=3, base="lru"):
    """Make up an experiment in which `hyper` gains with each thread, and `tiny` failed with 8."""
    names = tuple(f"rocksdb-7.8.{3 + number}" for number in range(builds))
    counts = ("1", "2", "8", *map(str, range(9, 6 + threads)))[:threads]
    axes = {"builds": names, "caches": tuple(RATES), "threads": counts}
    experiment = Experiment(folder, **axes, loads=loads, base={"cache": base})
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


def ladder(folder):
    """Make up an experiment of many steps and versions, with doubts and a long title."""
    title = "LRU against hyper-clock cache, the newest point releases and their predecessors, whatever the step is"
    steps = [f"step-{number}" for number in range(28)]
    axes = {"builds": BUILDS, "caches": ("lru",), "threads": ("1",), "steps": steps}
    experiment = Experiment(folder, **axes, base={"build": BUILDS[0]}, title=title)
    for age, build in enumerate(BUILDS):
        experiment.add_build(build, {"route": "source"}, [ASSERTIONS])
        for load, level in enumerate((1.0, 1.01, 0.99)):
            experiment.add_load(build, load)
            rates = {step: 1e4 * level * (1 + 0.03 * age * (number % 5 - 1.5)) for number, step in enumerate(steps)}
            experiment.add(build, "lru", "1", load, rates)
    return experiment


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    experiment = measured(tmp_path_factory.mktemp("page"))
    scenario.report(experiment)
    return SummaryFiles.of(experiment.store, "p-synthetic").page


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(tab, path):
    open_table(tab, path)
    return tab


def open_table(tab, path, fragment=""):
    """Scroll to the table to paste, which has its controls then."""
    tab.open(path, fragment=fragment)
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    tab.run(
        "new Promise(done => { const look = () => document.querySelector('#against-1 .bar') ? done()"
        " : setTimeout(look, 20); look(); })"
    )


def choose(page, selector, value):
    page.run(
        f"(list => {{ list.value = {value!r}; list.dispatchEvent(new Event('change')); }})"
        f"(document.querySelector({selector!r}))"
    )


def sort(page, column):
    page.run(f"document.querySelectorAll('#against-1 .sort')[{column}].click()")
    return page.run(TEXTS)


# Its size


@pytest.mark.parametrize(
    "make",
    [
        *(partial(measured, builds=a, threads=b, loads=c) for a, b, c in ((1, 3, 3), (6, 12, 2), (1, 1, 1), (2, 3, 1))),
        ladder,
    ],
    ids=["small", "grid", "one", "try", "ladder"],
)
def test_a_page_keeps_its_budget_whatever_the_grid(tab, tmp_path, make):
    experiment = make(tmp_path)
    scenario.report(experiment)
    for width in (SCREEN, PHONE):
        figures = measure(tab, SummaryFiles.of(experiment.store, "p-synthetic").page, width)
        assert {name: figures[name] for name in BUDGET if figures[name] > BUDGET[name]} == {}
        assert figures["first chart ends in"] > PART
        assert figures["width"] <= width


# Its controls


def test_it_says_nothing_in_the_console_and_asks_for_nothing(page, path):
    page.run("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert page.complaints() == []
    assert page.requests() == [path.absolute().as_uri()]


def test_a_table_is_sorted_by_any_column(page):
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


def test_a_table_is_filtered_and_the_address_keeps_it(page, path):
    choose(page, "#against-1 .controls label:nth-of-type(2) select", "=2")
    assert [row.split(" | ")[:2] for row in page.run(TEXTS)] == [["readww", "2"], ["overwrite", "2"]]
    assert page.run("document.querySelector('#against-1 .count').textContent") == "2 of 6 rows"
    address = page.run("location.hash")
    open_table(page, path)
    assert len(page.run(TEXTS)) == 6
    open_table(page, path, address)
    assert len(page.run(TEXTS)) == 2


VISIBLE = "[...document.querySelectorAll('{}')].filter(one => one.checkVisibility()).map(one => one.{}.trim())"
SHOWN = (
    *((selector, "innerText") for selector in (".card", ".action dd", ".comparison > h2", ".comparison .paste tr")),
    ("#answer svg.chart", "ariaLabel"),
    (".comparison td[title]", "title"),
)


def test_another_base_is_judged_as_by_a_report_with_that_base(page, path, tmp_path):
    """Headline, heading, chart, ratios, intervals and verdicts follow, and the address keeps it."""
    choose(page, "label.base select", "hyper")
    assert page.run("location.hash") == "#base=hyper"
    assert page.run(VISIBLE.format(".comparison > h2", "innerText"))[0] == "QPS and ratio to cache=hyper"
    own = measured(tmp_path, base="hyper")
    scenario.report(own)
    page.open(path, fragment="#base=hyper")
    turned = [page.run(VISIBLE.format(*place)) for place in SHOWN]
    page.open(SummaryFiles.of(own.store, "p-synthetic").page)
    assert turned == [page.run(VISIBLE.format(*place)) for place in SHOWN]
    assert turned[-1][0] == "0.61× [0.60, 0.61] slower"


def test_csv_has_one_figure_a_column_with_all_digits_and_typed_axes(tab, tmp_path):
    experiment = Experiment(tmp_path, threads=("10k", "2k"))
    experiment.add_build("rocksdb-7.8.3")
    for load, level in enumerate((1000.25, 1001.0, 999.0)):
        experiment.add_load("rocksdb-7.8.3", load)
        for cache, count in product(experiment.caches, experiment.threads):
            qps = level * (1.5 if cache == "hyper" else 1)
            experiment.add("rocksdb-7.8.3", cache, count, load, {"readww": qps, "overwrite": qps})
    scenario.report(experiment)
    open_table(tab, SummaryFiles.of(experiment.store, "p-synthetic").page)
    tab.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async text => { window.copied = text; }}});"
        "[...document.querySelectorAll('#against-1 .tools button')].find(one => one.textContent === 'CSV').click()"
    )
    head, first, second, *_ = [line.split(",") for line in tab.run("copied").splitlines()]
    arm = [f"cache=hyper{part}" for part in ("", " ratio", " low", " high", " verdict")]
    assert head == ["step", "threads", "cache=lru", *arm]
    assert (first[:2], second[:2]) == (["readww", "10000"], ["readww", "2000"])
    assert first[2:4] == ["999.9996667", "1499.666148"]
    assert first[4:] == ["1.499666648", "1.493905312", "1.505450202", "faster"]
    assert [row.split(" | ")[1] for row in sort(tab, 1)] == ["2k", "2k", "10k", "10k"]
    assert "stepgrid query … --format csv|parquet" in tab.run(VISIBLE.format("#against-1 .tools", "innerText"))[0]


def test_a_chart_is_saved_as_a_picture(page):
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


def test_without_scripts_everything_is_there(tab, path):
    tab.open(path, scripts=False)
    assert tab.run("document.querySelector('.tools')") is None
    assert tab.run("document.querySelectorAll('#against-1 > .scroll tbody tr').length") == 6
    assert tab.run("document.querySelectorAll('#answer > :not([hidden]) svg').length") == 6
    assert tab.run("document.querySelectorAll('.rest > details > summary').length") >= 8


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_nothing_is_cut(tab, path, dark):
    """A table that is wider than the screen scrolls by itself."""
    tab.open(path, PHONE, dark=dark)
    tab.run("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert tab.run("document.documentElement.scrollWidth") == PHONE
    paper = "rgb(21, 23, 26)" if dark else "rgb(255, 255, 255)"
    assert tab.run("getComputedStyle(document.body).backgroundColor") == paper


def test_on_paper_there_are_no_controls_and_no_commands(tab, path):
    tab.open(path, media="print")
    tab.run("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    tab.run("document.querySelector('#against-1').scrollIntoView()")
    assert tab.run("getComputedStyle(document.querySelector('.commands')).display") == "none"
    assert tab.run("[...document.querySelectorAll('.tools, .bar')].every(one => !one.checkVisibility())")
    assert tab.paper().startswith(b"%PDF-")
