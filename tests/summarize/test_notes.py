"""Doubts of a report: which are told, and in which words; and coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.model.plan import SAME_QUALITY, Axis, Report
from stepgrid.summarize.comparisons.builds import Build
from stepgrid.summarize.comparisons.comparison import RATIO, ComparedMetric, Comparison, Entry, Row
from stepgrid.summarize.comparisons.comparison_axes import Layout, Section
from stepgrid.summarize.comparisons.judgement import mark_perhaps
from stepgrid.summarize.data.points import Point
from stepgrid.summarize.data.tables_reader import Run
from stepgrid.summarize.notes import Doubt, coverage, doubts, quiet_times
from stepgrid.summarize.setup import Defaults
from stepgrid.summarize.statistics.confidence_intervals import Interval, Outlier, holm_limit
from tests.summarize import made


def told(sections: Iterable[Section] = (), comparisons: Sequence[Comparison] = (), **known: Any) -> list[Doubt]:
    header = SimpleNamespace(warnings=known.get("planned", ()), report=known.get("report", Report()))
    setup: Any = SimpleNamespace(
        scale=known.get("scale"),
        builds=known.get("builds", {}),
        effect=0.02,
        defaults=known.get("defaults"),
        hardware=known.get("hardware", {}),
        loads=(5, 5),
        spec="a.yaml",
        request=None,
        metric=ComparedMetric(),
    )
    tables = replace(made.tables(known.get("runs", ())), facts=known.get("facts", {}))
    return list(doubts(header, setup, tables, list(sections), mark_perhaps(comparisons, 0.02)))  # type: ignore[arg-type]


def texts(*sections: Section, **known: Any) -> list[str]:
    return [doubt.text for doubt in told(sections, **known)]


def section(step: str, *points: Point) -> Section:
    return Section(step, (Axis("arm", ("x", "y")),), tuple(replace(point, step=step) for point in points))


def point(arm: str, **figures: Sequence[float]) -> Point:
    """Make one run of each figure's values."""
    rows = zip(*figures.values(), strict=True)
    return made.point(
        *(made.run(arm, load, 9.0, **dict(zip(figures, row, strict=True))) for load, row in enumerate(rows))
    )


def test_violated_expectations_come_first() -> None:
    reason = "expects `found_pct > 99` is violated: found_pct is 50"
    void = replace(made.run("x", 0, 9.0), metrics={}, status="failed", reason=reason)
    first, second = told(runs=[void, made.run("x", 1, 9.0)], planned=["a.yaml:1:1: something"])
    assert first.text == f"{void.step} of {void.build}: {reason}; void in 1 of 2 runs"
    assert second.brief == "something"
    assert coverage([void]).incomplete == 0


def test_a_report_without_doubts_has_none() -> None:
    assert told([section("read", point("x", seconds=[60.0]))]) == []


def test_a_scale_and_warnings_of_the_plan_come_first() -> None:
    scale, plan = told(scale="smoke", planned=["spec.yaml:1:1: no repeats: there can be no verdict"])
    assert scale.brief == "scale smoke"
    assert scale.text.startswith("measured at scale smoke: sizes, durations or repeats are those of this scale")
    hosts = ({"cores": 2, "declared": False}, {"cores": 2, "declared": False, "described": {"bee": {}}})
    assert [told(scale="smoke", hardware=host)[0].text.partition(":")[0] for host in hosts] == [
        "measured at scale smoke on this 2-core host, whatever hardware the title names",
        "measured at scale smoke on this 2-core host, not on bee",
    ]
    assert (plan.brief, plan.text) == ("no repeats", "spec.yaml:1:1: no repeats: there can be no verdict")


# Builds


def build(name: str, quality: Mapping[str, Any] | None = None, **fields: Any) -> Build:
    return Build(name, name, quality={"route": "debian"} if quality is None else quality, **fields)


def differing(*builds: Build, **report: Any) -> list[tuple[str, str]]:
    found = told(builds={each.id: each for each in builds}, report=Report(**report))
    return [(doubt.brief, doubt.text) for doubt in found]


def test_warnings_of_builds_are_told_once_and_not_again_of_their_runs() -> None:
    slow = "WARNING: Assertions are enabled; benchmarks unnecessarily slow"
    builds = {name: build(name, warnings=(slow,)) for name in ("old", "new")}
    runs = [
        replace(made.run("x", 0, 1.0), warnings=(slow,)),
        replace(made.run("y", 0, 1.0), warnings=("stopped early",)),
    ]
    assert [(doubt.brief, doubt.text) for doubt in told(builds=builds, runs=runs)] == [
        ("assertions on", "old, new: Assertions are enabled; benchmarks unnecessarily slow"),
        ("stopped early in 1 step", "readww of b: stopped early"),
    ]


def test_a_metric_that_the_output_of_no_run_has() -> None:
    lacking = "metric `p99` has no figure: nothing in stdout or stderr matches p99=(.*)"
    runs = [replace(made.run("x", load, 1.0), warnings=(lacking,)) for load in range(2)]
    assert [(doubt.brief, doubt.text) for doubt in told(runs=runs)] == [
        (
            "readww has no `p99`",
            "metric `p99` of readww has no figure in any run of b: nothing in stdout or stderr matches p99=(.*); "
            "`stepgrid check a.yaml --try readww=FILE` tries another, nothing is measured again",
        )
    ]
    assert told(runs=[*runs, made.run("x", 2, 1.0)]) == []


def test_builds_that_were_made_differently() -> None:
    suites = [build(suite, {"route": "debian", "suite": suite}) for suite in ("bullseye", "bookworm", "trixie")]
    names = "suite bullseye / bookworm / trixie"
    brief = "packages of 3 suites"
    assert differing(suites[0]) == []
    assert differing(*suites) == [(brief, f"builds are compared as shipped, though made differently: {names}")]
    text = f"builds that were made differently get no verdict against each other: {names}"
    assert differing(*suites, strict=SAME_QUALITY) == [(brief, text)]
    text = f"builds are compared as shipped (products), though made differently: {names}"
    assert differing(*suites, as_shipped="products", strict=SAME_QUALITY) == [(brief, text)]


def test_builds_without_a_verdict() -> None:
    known = {"route": "debian", "suite": "trixie", "assertions": True}
    fast = build("b", {**known, "suite": "sid", "assertions": False})
    assert differing(build("a", known), fast) == [
        ("assertions differ", "builds that differ in this get no verdict against each other: assertions yes / no"),
        ("packages of 2 suites", "builds are compared as shipped, though made differently: suite trixie / sid"),
    ]
    lost = replace(build("c"), quality=None)
    ((_, text),) = differing(build("a"), lost)
    assert text.endswith("get no verdict against each other: it is not recorded how some of them were made")
    servers = [build(name, {"route": "server", "server": name}, client=True) for name in ("prod", "test")]
    ((_, text),) = differing(*servers)
    assert text == "clients that were made differently get no verdict against each other: server prod / test"


def test_changed_defaults_are_counted() -> None:
    rows = (("format_version", ("5", "6", "7")), ("wal", ("1", "1", "2")))
    (doubt,) = told(defaults=Defaults("old", ("mid", "new"), rows))
    assert doubt.text == (
        "1 option default changed by mid, 2 by new against old (listed below); ratios between builds include them"
    )


# Runs and results


def test_lookups_of_missing_keys_are_told_by_step() -> None:
    def missed(cell: str, load: int, share: float = 0.1) -> Run:
        figures = {"found_pct": share, "found_expected_pct": 100.0}
        warning = ("found 0.1 % of the keys that it looked up; 100 % were expected",)
        return replace(made.run(cell, load, 100.0, **figures), warnings=warning)

    assert texts(runs=[missed("x", 0), missed("y", 1, 0.25), made.run("z", 0, 1.0)]) == [
        "readww of b: found 0.1 % to 0.25 % of the keys that it looked up; 100 % were expected: "
        "lookups of missing keys are part of these figures"
    ]


RUNS = [made.run("x", load, 1.0) for load in range(5)]
RESULTS = [f"{run.place[0]}/{run.attempt}" for run in RUNS]


def of_results(scope: str, facts: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(doubt.brief, doubt.text) for doubt in told(runs=RUNS, facts={scope: facts})]


def test_hosts_that_were_changed_or_disturbed() -> None:
    kernels = {RESULTS[0]: {"kernel": "6.1"}, RESULTS[1]: {"kernel": "6.12"}}
    assert of_results("host", kernels) == [
        ("2 kernels", "the figures come from different settings of the host: kernel 6.1, 6.12")
    ]
    noise = {result: {"warning": "others used 50 % of a core"} for result in RESULTS[:4]}
    ((brief, text),) = of_results("noise", {**noise, RESULTS[4]: {"fixed": "turbo"}, "s/9": {"warning": "old"}})
    assert brief == "4 of 5 stages disturbed"
    assert text == (
        "the host was not quiet before 4 of 5 stages (b, arm=x, load 0; b, arm=x, load 1; b, arm=x, load 2; "
        "and 1 more): others used 50 % of a core"
    )


def test_a_load_that_is_disturbed_and_far_off_is_one_doubt() -> None:
    arm = point("x", seconds=[60.0])
    entries = Entry("base", arm), Entry(RATIO, arm, ratio=1.0, outliers=(Outlier(1, 9.0, 1.0),))
    rows = tuple(Row(step, (), entries) for step in ("read", "write"))
    comparison = Comparison(ComparedMetric(), Layout(("arm",), (), {"arm": "x"}), (("x",), ("y",)), rows)
    noise = {"noise": {RESULTS[1]: {"warning": "others used 50 % of a core"}}}
    (both,) = told(comparisons=[comparison], runs=RUNS, facts=noise)
    assert both.brief == "load 1: disturbed, and far off in 2 ratios"
    assert both.text.startswith(f"{both.brief}; `stepgrid redo a.yaml --disturbed` measures it again. The host was")
    (alone,) = told(comparisons=[comparison], runs=RUNS)
    assert alone.text == "load 1: far off in 2 ratios; more loads outweigh it (`--set repeat=N`)"


def test_results_that_were_measured_again_or_retracted() -> None:
    why = {"why": "a disturbance"}
    number = "1 of 5 stages measured again"
    text = f"{number} on request, and only the newest result counts: a disturbance"
    assert of_results("asked", {RESULTS[0]: why}) == [(number, text)]
    text = "2 results retracted (readww of b): a disturbance"
    assert of_results("retracted", {"s-x-0-0/1": why, "s-x-1-0/2": why}) == [("2 results retracted", text)]


def test_databases_that_were_created_in_different_ways() -> None:
    images = {result: {"method": "hardlink"} for result in RESULTS[:3]}
    assert of_results("image", images) == []
    ((_, text),) = of_results("image", {**images, RESULTS[3]: {"method": "replay"}})
    assert text == (
        "readww: the databases were created in different ways: restored by hardlink (3), "
        "made by running the load again (1)"
    )


def test_figures_of_many_days() -> None:
    runs = [made.run("x", 0, 1.0), made.run("x", 1, 1.0, minutes=10 * 1440.0)]
    assert texts(runs=runs) == ["the figures were measured up to 10 days apart (2026-11-20 to 2026-11-30)"]


# Steps


def test_clients_that_used_more_cpu_than_their_server() -> None:
    def cpu(arm: str, client: list[float], server: list[float]) -> Point:
        return point(arm, client_cpu_us_per_op=client, server_cpu_us_per_op=server)

    slow, equal = cpu("slow", [80, 80, 80], [50, 50, 50]), cpu("equal", [50], [50])
    assert texts(section("search", slow, equal), section("load", equal)) == [
        "search: the client used more CPU than its server, in µs per operation: arm=slow: 80 against 50"
    ]
    (text,) = texts(section("search", *(cpu(str(number), [2.0], [1.0]) for number in range(6))))
    assert text.endswith("arm=3: 2 against 1, and 2 more")


def test_rates_that_clients_did_not_reach() -> None:
    points = [point(arm, inserts_per_s=rates, target_inserts_per_s=[4000.0] * len(rates)) for arm, rates in
              (("my", [4000.0]), ("pg", [3900.0, 2800.0, 2700.0]))]  # fmt: skip
    assert texts(section("q1000", *points, point("free", inserts_per_s=[5.0]))) == [
        "q1000: clients reached less than 95 % of the rate of the spec: arm=pg: 3,089 of 4,000 rows/s"
    ]


def test_few_arms_that_write_far_more() -> None:
    def amplified(*values: float) -> Section:
        return section("q500", *(point(f"a{at}", write_amplification=[value]) for at, value in enumerate(values)))

    assert texts(amplified(123.0, 1.9, 1.91, 0.954)) == [
        "q500: write amplification 123 (arm=a0), of the others 0.954 to 1.91: "
        "compactions of what earlier steps left ran beside it in some arms only"
    ]
    assert texts(amplified(7.4, 7.2, 6.9), amplified(0.1, 1.0, 0.1), amplified(50.0, 1.0)) == []


def test_searches_that_find_all() -> None:
    def searched(build: str, arm: str, *recalls: float) -> Point:
        found = point(arm, recall=recalls)
        return replace(found, runs=tuple(replace(run, build=build) for run in found.runs))

    curve = (searched("maria", "10", 0.9994, 0.9992, 0.9993), searched("maria", "40", 1.0))
    assert texts(section("search", *curve, searched("pgvector", "10", 0.998), searched("pgvector", "40", 1.0))) == [
        "search of maria: recall is 0.9993 or more in all 2 searches, the lowest at arm=10: smaller indexes, fewer "
        "candidates or harder data would show what recall costs"
    ]
    assert texts(section("exact", searched("maria", "10", 1.0))) == []


def test_short_runs() -> None:
    load, index = section("load", point("x", seconds=[0.41, 2.0])), section("index", point("x", seconds=[0.2]))
    (doubt,) = told([load, index, section("read", point("x", seconds=[60.0, 1.0]))])
    assert doubt.brief == "index ran 0.2 s, 1 more"
    assert doubt.text == (
        "load ran for 0.41\u20132 s; index ran for 0.2 s: too short to trust. Use more keys or rows, or `times:`"
    )
    assert told([load])[0].brief == "load ran 0.4 s"


# Many comparisons


def table(*ratios: float, verdict: str = "faster", refusal: str | None = None) -> Comparison:
    """Make ratios that were measured with 4 degrees of freedom and an error of 1 %."""
    intervals = [Interval(ratio, ratio / 1.03, ratio * 1.03, 5, (), 0.01 * 5**0.5, 4, 3.0) for ratio in ratios]
    entries = [Entry(RATIO, None, each, each.ratio, verdict, refusal) for each in intervals]
    layout = Layout({"arm": "base"}, ("arm",), ())
    return Comparison(ComparedMetric(), layout, (("base",),), (Row("readww", (), tuple(entries)),))


EQUAL = [table(1.0, 1.0, 1.0, 1.0, verdict="undecided") for _ in range(10)]


def test_one_weak_difference_among_many_comparisons_may_be_chance() -> None:
    (doubt,) = told(comparisons=[table(1.055), *EQUAL])
    assert doubt.brief == "1 of 1 differences may be chance"
    assert doubt.text.startswith("1 of the 1 differences may be chance: in a report of 41 comparisons some look so")
    assert told(comparisons=[table(1.5), *EQUAL]) == [], "a clear one"
    assert told(comparisons=[table(1.055)]) == [], "one table holds together by itself"
    assert told(comparisons=[table(1.055, refusal="made otherwise"), *EQUAL]) == []


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.002]), min_size=1))
def test_the_limit_is_that_of_holms_procedure(chances: list[float]) -> None:
    """A chance holds if it does after each is multiplied by how many are no smaller."""
    ranked = sorted(chances)
    adjusted = [max((len(ranked) - at) * ranked[at] for at in range(rank + 1)) for rank in range(len(ranked))]
    holding = [value for value, after in zip(ranked, adjusted, strict=True) if after <= 0.05]
    assert holm_limit(chances, 0.05) == max(holding, default=0.0)


# Coverage and waits


def test_coverage_counts_shared_runs_once_and_groups_reasons() -> None:
    failed = [replace(made.run("x", load, 1.0), status="failed", reason="killed", log=f"{load}.log") for load in (1, 2)]
    found = coverage(
        [made.run("x", 0, 1.0), made.run("x", 0, 1.0), *failed, replace(made.run("y", 0, 1.0), measured=False)]
    )
    assert (found.total, found.incomplete, found.counts["done"]) == (3, 2, 1)
    (trouble,) = found.troubles
    assert (trouble.status, trouble.reason, trouble.runs, trouble.logs) == ("failed", "killed", 2, ("1.log", "2.log"))


def test_times_until_builds_were_quiet() -> None:
    def run(build: str, seconds: float | None, **fields: Any) -> Run:
        metrics = {} if seconds is None else {"quiesce_seconds": seconds}
        fields = {"step": "settle", "kind": "quiesce", **fields}
        return replace(made.run("a", 0, 1.0), build=build, metrics=metrics, **fields)

    runs = [run("innodb", 2.0), run("innodb", 3.0), run("innodb", 9.0), run("mysql", None), run("mysql", 0.25)]
    others = [run("innodb", 1.0, same_as="c-1"), run("mysql", None, attempt=None), run("mysql", 1.0, kind="sql")]
    assert list(quiet_times([*runs, *others, run("postgres", None, step="settle.post")])) == [
        "settle: innodb 3.00 s, mysql 0.250 s; not in time: mysql",
        "settle.post: not in time: postgres",
    ]
