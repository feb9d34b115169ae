"""The answer of a report: for each arm and base a headline, a detail and a note; text and page show the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stepgrid.model.plan import SAME_QUALITY
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT
from stepgrid.model.table import SAME as SAME_AS
from stepgrid.summarize import sentences
from stepgrid.summarize.comparisons.comparison import (
    BASE,
    NO_BASE,
    RATIO,
    ComparedMetric,
    Comparison,
    Entry,
    PooledRatio,
    Row,
)
from stepgrid.summarize.comparisons.comparison_axes import Layout
from stepgrid.summarize.findings import Finding, findings, findings_by_metric
from stepgrid.summarize.report import Report
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import (
    BUSY,
    DIFFERENT,
    FASTER,
    INDICATIVE,
    ONE_LOAD,
    SAME,
    SLOWER,
    UNDECIDED,
)
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

OLD, NEW = "rocksdb-6.11.4", "rocksdb-7.8.3"
UNLIKE = "a and b were built differently: suite x / y; compiler GCC 12 / GCC 14"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scenario.report(scenario.experiment(tmp_path_factory.mktemp("findings")))


def interval(ratio: float) -> Interval:
    return Interval(ratio, ratio - 0.01, ratio + 0.01, 3)


def of(*ratios: tuple[str | None, float], **more: object) -> list[Entry]:
    return [Entry(RATIO, interval=interval(ratio), ratio=ratio, verdict=word, **more) for word, ratio in ratios]  # type: ignore[arg-type]


def over_all(word: str, ratio: float, points: int) -> PooledRatio:
    return PooledRatio("readww", "cache", "hyper", "lru", ratio, interval(ratio), word, points, 0.9, 1.1)


def finding(
    report: Report, entries: Sequence[Entry], *pooled: PooledRatio, metric: ComparedMetric | None = None
) -> Finding:
    """Answer for `cache=hyper`, at readww with 1, 2, … threads."""
    rows = tuple(Row("readww", (str(number),), (Entry(BASE), entry)) for number, entry in enumerate(entries, 1))
    layout = Layout({"cache": "lru"}, ("cache",), ("threads",))
    comparison = Comparison(metric or ComparedMetric(), layout, (("lru",), ("hyper",)), rows, pooled)
    (answer,) = findings(scenario.altered(report, all=(comparison,)))
    return answer


@pytest.mark.parametrize(
    ("entries", "text", "kind"),
    [
        (
            of((FASTER, 1.5)),
            "1.50× the QPS of cache=lru, in readww, at threads=1 (faster, certain: 1.50× [1.49, 1.51])",
            FASTER,
        ),
        (
            of((SLOWER, 0.07), (SLOWER, 0.11)),
            "7–11 % of the QPS of cache=lru, in readww, at both values of threads "
            "(slower, certain · largest drop threads=1: 0.07× [0.06, 0.08])",
            SLOWER,
        ),
        (
            of((SLOWER, 0.5), (SLOWER, 0.8), (SAME, 1.0), (UNDECIDED, 1.1)),
            "0.50–0.80× the QPS of cache=lru, in readww, at 2 of 4 values of threads (slower, certain · "
            "largest drop threads=1: 0.50× [0.49, 0.51] · 1 same, 1 undecided)",
            SLOWER,
        ),
        (
            of((FASTER, 1.5), (SLOWER, 0.7), (FASTER, 1.2)),
            "0.70–1.50× the QPS of cache=lru, in readww: faster at 2 of 3 values of threads, slower at threads=2 "
            "(largest rise threads=1: 1.50× [1.49, 1.51] · largest drop threads=2: 0.70× [0.69, 0.71])",
            "both",
        ),
        (
            of((DIFFERENT, 1.02), (SAME, 1.0)),
            "1.02× the QPS of cache=lru, in readww, at threads=1 (differs, perhaps by less than the 2 % that count · "
            "1.02× [1.01, 1.03] · 1 same)",
            "none",
        ),
        (
            of((SAME, 1.0), (SAME, 1.01)),
            "the same QPS as cache=lru, in readww, at both values of threads (within 2 %)",
            "none",
        ),
        (
            of((SAME, 1.0), (UNDECIDED, 1.05)),
            "undecided against cache=lru, in readww, at threads=2: 1.04–1.06× is possible "
            "(the same within 2 % at threads=1)",
            "none",
        ),
        (
            [Entry(RATIO, interval=Interval(1.0, 1e-3, 1e3, 2), ratio=1.0, verdict=UNDECIDED)],
            "undecided against cache=lru, in readww, at threads=1: any ratio is possible",
            "none",
        ),
        (
            of((ONE_LOAD, 1.05), (INDICATIVE, 0.7)),
            "0.70–1.05× the QPS of cache=lru, in readww, at both values of threads "
            "(one load: no verdict · their seconds differ at 1 point)",
            "none",
        ),
        (
            of((None, 0.9), refusal=UNLIKE),
            f"0.90× the QPS, no verdict against cache=lru, in readww, at threads=1 ({UNLIKE})",
            "none",
        ),
        (
            of((FASTER, 1.5), (FASTER, 1.6), as_shipped=UNLIKE, doubts=("far",)),
            "1.50–1.60× the QPS of cache=lru, in readww, at both values of threads (faster, certain · largest rise "
            "threads=2: 1.60× [1.59, 1.61] · as shipped: packages of different Debian suites · "
            "2 ratios with a doubt of their own (†))",
            FASTER,
        ),
        (
            [*of((SAME, 1.0)), Entry(RATIO, verdict=UNDECIDED, idle="1 of 3 loads did nothing (0 QPS)")],
            "the same QPS as cache=lru, in readww, at threads=1 (within 2 % · 1 without work in a load)",
            "none",
        ),
        (
            [Entry(RATIO, verdict=UNDECIDED, idle="1 of 3 loads did nothing (0 QPS)")],
            "QPS is 0 in a load against cache=lru, in readww, at threads=1 (1 of 3 loads did nothing (0 QPS))",
            "none",
        ),
        ([Entry(Status.FAILED), Entry(ABSENT)], "no figures to compare with cache=lru (1 of 2 points failed)", "none"),
        (
            [
                Entry(RATIO, verdict=UNDECIDED, idle="of the base: 1 of 3 loads did nothing (0 QPS)"),
                *of((SAME, 1.0)),
            ],
            "the same QPS as cache=lru, in readww, at threads=2 (within 2 % · 1 without work in a load)",
            "none",
        ),
        (
            [Entry(RATIO, verdict=UNDECIDED, idle="of the base: 1 of 3 loads did nothing (0 QPS)")] * 2
            + [Entry(RATIO, verdict=UNDECIDED, idle="2 of 3 loads did nothing (0 QPS)")],
            "QPS is 0 in a load against cache=lru, in readww, at threads=3 (2 of 3 loads did nothing (0 QPS))",
            "none",
        ),
        (
            [Entry(RATIO, verdict=UNDECIDED, idle="of the base: 1 of 3 loads did nothing (0 QPS)")] * 2,
            "QPS of the base is 0 in a load against cache=lru, in readww, at both values of threads "
            "(of the base: 1 of 3 loads did nothing (0 QPS))",
            "none",
        ),
        (
            of((FASTER, 1.5), (FASTER, 1.1), perhaps=True),
            "1.10–1.50× the QPS of cache=lru, in readww, at both values of threads "
            "(faster, perhaps · largest rise threads=1: 1.50× [1.49, 1.51])",
            FASTER,
        ),
        (
            [*of((FASTER, 1.5)), *of((FASTER, 1.1), perhaps=True)],
            "1.10–1.50× the QPS of cache=lru, in readww, at both values of threads (faster, certain at threads=1, "
            "perhaps at threads=2 · largest rise threads=1: 1.50× [1.49, 1.51])",
            FASTER,
        ),
        (
            [Entry(RATIO, interval=Interval(1.46, 1.42, 1.5, 2), ratio=1.46, verdict=FASTER)],
            "1.46× the QPS of cache=lru, in readww, at threads=1 (faster, 2 loads: 1.46× [1.42, 1.50])",
            FASTER,
        ),
        (
            of((BUSY, 0.35), (BUSY, 0.22)),
            "QPS undecided (host busy) against cache=lru, in readww, at both values of threads: 22–35 % came out",
            "none",
        ),
        (
            [*of((SAME, 1.0)), Entry(NO_BASE), Entry(Status.UNSUPPORTED)],
            "the same QPS as cache=lru, in readww, at threads=1 (within 2 % · 1 of 3 points unsupported)",
            "none",
        ),
        ([Entry(SAME_AS, same="cache=plain")], "the same run as cache=plain", "none"),
    ],
)
def test_text_of_an_arm(report: Report, entries: Sequence[Entry], text: str, kind: str) -> None:
    answer = finding(report, entries)
    assert (answer.text, answer.kind) == (f"cache=hyper: {text}", kind)


@pytest.mark.parametrize(
    ("entries", "pooled", "text", "kind"),
    [
        (
            of((FASTER, 1.2), (UNDECIDED, 1.1), (UNDECIDED, 1.05)),
            over_all(FASTER, 1.12, 3),
            "1.12× the QPS of cache=lru, in readww, over all 3 values of threads (faster, certain: 1.12× [1.11, 1.13] "
            "· by itself faster at threads=1 · 2 undecided)",
            FASTER,
        ),
        (
            of((FASTER, 1.2), (SLOWER, 0.9)),
            over_all(FASTER, 1.12, 2),
            "0.90–1.20× the QPS of cache=lru, in readww: faster at threads=1, slower at threads=2 (over all points "
            "1.12× [1.11, 1.13] · largest rise threads=1: 1.20× [1.19, 1.21] · largest drop threads=2: 0.90× "
            "[0.89, 0.91])",
            "both",
        ),
        (
            of((UNDECIDED, 1.2), (UNDECIDED, 1.1)),
            over_all(FASTER, 1.15, 2),
            "1.15× the QPS of cache=lru, in readww, over both values of threads (faster, certain: 1.15× [1.14, 1.16] "
            "· no single point is certain · 2 undecided)",
            FASTER,
        ),
        (
            of((UNDECIDED, 1.0), (UNDECIDED, 1.0)),
            over_all(SAME, 1.0, 2),
            "the same QPS as cache=lru, in readww, over both values of threads (within 2 %: 1.00× [0.99, 1.01])",
            "none",
        ),
    ],
)
def test_the_ratio_over_all_points_answers_for_the_grid(
    report: Report, entries: Sequence[Entry], pooled: PooledRatio, text: str, kind: str
) -> None:
    answer = finding(report, entries, pooled)
    assert (answer.text, answer.kind) == (f"cache=hyper: {text}", kind)


def test_a_metric_that_is_better_when_lower(report: Report) -> None:
    answer = finding(report, of(("faster", 0.4)), metric=ComparedMetric("p99_us", "us", "lower"))
    assert answer.headline == "cache=hyper: 40 % of the p99_us"
    assert answer.kind == FASTER


def made(
    root: Path,
    rates: Mapping[str, Sequence[float]],
    builds: Sequence[str] = (NEW,),
    strict: str | None = None,
    is_overwrite_steady: bool = False,
) -> Report:
    """Two steps with the same rates of each cache, or of each build, by load."""
    caches = tuple(rates) if len(builds) == 1 else ("lru",)
    base = {"cache": "lru"} if len(builds) == 1 else {"build": builds[0]}
    loads = len(next(iter(rates.values())))
    experiment = Experiment(
        root, builds=builds, caches=caches, threads=("1",), loads=loads, base=base, seconds=1, strict=strict
    )
    for build in builds:
        experiment.add_build(build)
        for load in range(loads):
            experiment.add_load(build, load)
            for cache in caches:
                rate = rates[cache if len(builds) == 1 else build][load]
                overwrites = 1000.0 if is_overwrite_steady else rate
                experiment.add(build, cache, "1", load, {"readww": rate, "overwrite": overwrites})
    return scenario.report(experiment)


@pytest.mark.parametrize(
    ("rates", "texts", "advice"),
    [
        (
            {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]},
            ["cache=hyper: undecided against cache=lru, in both steps: 0.88–1.14× is possible"],
            ["23 to over 100 loads, longer steps or a quieter host would show 3 % at half of the undecided points."],
        ),
        (
            {"lru": [1000.0, 2000.0, 500.0], "hyper": [1050.0, 700.0, 1900.0]},
            ["cache=hyper: undecided against cache=lru, in both steps: 0.17–7.31× is possible"],
            [
                "Too noisy: nothing below 7.00× can be seen at half of the undecided points. "
                "A quieter host or longer steps would tell more."
            ],
        ),
        (
            {"lru": [1000.0, 1100.0, 950.0], "hyper": [1000.0, 1100.0, 950.0]},
            ["cache=hyper: the same QPS as cache=lru, in both steps (within 2 %)"],
            [],
        ),
        (
            {"lru": [1000.0], "hyper": [1050.0]},
            ["cache=hyper: 1.05× the QPS of cache=lru, in both steps (one load: no verdict)"],
            ["One load gives no verdict: `repeat: 3` or more does."],
        ),
        ({"lru": [1000.0, 1010.0, 990.0]}, [], []),
    ],
)
def test_answer_and_advice(
    tmp_path: Path, rates: Mapping[str, Sequence[float]], texts: Sequence[str], advice: Sequence[str]
) -> None:
    report = made(tmp_path, rates)
    assert [answer.text for answer in findings(report)] == texts
    assert sentences.advice(report) == advice


def test_one_undecided_point_is_named_as_one(tmp_path: Path) -> None:
    rates = {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]}
    report = made(tmp_path, rates, is_overwrite_steady=True)
    assert sentences.advice(report) == ["16 to over 100 loads, longer steps or a quieter host would show 3 % here."]


def test_builds_that_get_no_verdict_are_no_noise(tmp_path: Path) -> None:
    """6.11.4 and 7.8.3 come from different suites, and the spec is strict."""
    rates = {OLD: [1000.0, 1010.0, 990.0], NEW: [1000.0, 1010.0, 990.0]}
    report = made(tmp_path, rates, (OLD, NEW), SAME_QUALITY)
    (answer,) = findings(report)
    assert answer.headline == f"{NEW}: 1.00× the QPS, no verdict"
    assert answer.note == f"{OLD} and {NEW} were built differently: suite bullseye / bookworm"
    assert sentences.advice(report) == [
        "Build both alike for a verdict; `allow: {mixed-quality: REASON}` gives one as shipped."
    ]


def test_builds_beside_the_comparison_of_the_spec_are_one_answer(report: Report) -> None:
    answer = findings(report)[-1]
    assert answer.headline == "releases, as shipped: 1.00×"
    assert answer.detail == f"the QPS of {NEW}; packages of different Debian suites"
    assert answer.note == "6.11.4 same at all 5 points of 3 steps"


def test_the_heaviest_answers_come_first(tmp_path: Path) -> None:
    """c0 is the base; each other one is a tenth slower than the one before it."""
    rates = {
        ("lru" if not number else f"c{number}"): [1e5 * 0.9**number * (1 + load / 1000) for load in range(3)]
        for number in range(4)
    }
    answers = findings(made(tmp_path, rates))
    assert [answer.headline for answer in answers] == [
        "cache=c3: 0.73× the QPS",
        "cache=c2: 0.81× the QPS",
        "cache=c1: 0.90× the QPS",
    ]


def test_metrics_of_claims_have_answers_of_their_own(tmp_path: Path) -> None:
    claims = [
        {"claim": "costs less", "expect": "cpu_us_per_op(cache='hyper') < cpu_us_per_op(cache='lru')"},
        {"claim": "reaches it", "expect": "qps() > 0.95 * target_inserts_per_s()"},
    ]
    answers = findings_by_metric(scenario.report(scenario.experiment(tmp_path, claims=claims)))
    assert [metric.name for metric in answers] == ["qps", "cpu_us_per_op"]
    assert [*answers.values()][1][0].headline.startswith("cache=hyper: 0.67–")


def test_a_report_about_builds_begins_with_a_count(report: Report) -> None:
    wide = Entry(RATIO, interval=Interval(1.0, 0.9, 1.1, 3), ratio=1.0, verdict=UNDECIDED)
    floor = Entry(RATIO, interval=interval(1.02), ratio=1.02, verdict=UNDECIDED, floor=0.05)
    entries = [*of((FASTER, 1.1), (SAME, 1.0), (UNDECIDED, 1.02), (DIFFERENT, 1.03), (SLOWER, 0.9)), wide, floor]
    rows = tuple(Row(f"step{number}", (), (Entry(BASE), entry)) for number, entry in enumerate(entries))
    comparison = Comparison(ComparedMetric(), Layout({"build": OLD}, ("build",), ()), ((OLD,), (NEW,)), rows)
    count, *_ = findings(scenario.altered(report, base={"build": OLD}, all=(comparison,)))
    assert count.text == "nothing slower by more than 2 % in 4 of 7 comparisons; slower in 1: step4; undecided in 2"
    assert findings(scenario.altered(report, all=(comparison,)))[0].arm == NEW
