"""Tables and claims: what they may say, and claims as trees. What they may not is in tests/language/bad."""

import pytest

from stepgrid.plan import report_check
from tests.language.bases import BASE, SWEEP

STEPS = """\
  - {name: settle, kind: command, argv: [sync], measured: false, duration: 1h}
  - {name: own, kind: command, argv: [echo, "3"], duration: null, metrics: {threes: {pattern: "([0-9])"}}}
  - {name: grid, kind: db_bench, benchmarks: [readrandom], for: {threads: [1, 2]}, duration: 5m}
params: {keys: 1k, duration: 10m}
probes: [{name: count_seconds, before: [own], command: [ls]}]
"""
SPEC = BASE.replace("params: {keys: 1k, duration: 1s}\n", STEPS) + SWEEP


@pytest.mark.parametrize(
    "said",
    [
        "window: 5m",
        "window: [5m]",
        "window: [0s, 10m]",
        "window: 90.5s",
        "window: [2m, 5m], where: {step: grid}",
        "window: 5m, where: {step: [grid, own]}",
        "window: 2h, where: {step: own}",  # it does not say how long it lasts
        "base: {build: rocksdb-7.8.3, cache: lru}",
        "base: {threads: 1}, where: {step: grid}",
        "labels: {rocksdb-7.8.3: '7', lru: LRU, hyper: LRU 2, cache: block cache}",
        "labels: {grid: reads, 'grid[threads=1]': alone, readww: reads, step: what is run}",
        "labels: {qps: operations/s, ops_sec: operations/s, threes: '3', count_seconds: counting}",
        "metrics: [qps, threes, count_seconds]",
    ],
)
def test_what_a_table_may_say(said, compile_text):
    plan = compile_text(f"{SPEC}report: {{tables: [{{title: a, rows: step, {said}}}]}}\n")
    assert [*plan.report.tables[0]][:2] == ["title", "rows"]


def test_claims_and_tables_are_in_the_plan(compile_text, complaints):
    report = "report: {base: {cache: lru}, tables: [{title: x, rows: %s, columns: build, where: {step: readww}}]}\n"
    claims = "claims: [{claim: c, expect: \"qps(cache='hyper', build='rocksdb') > 0.5 * qps(cache='lru')\"}]\n"
    plan = compile_text(BASE + SWEEP + report % "cache" + claims)
    assert plan.report.tables[0]["rows"] == ["cache"]
    assert plan.report.claims[0].claim == "c"
    assert "a table has no axis `cahce` to show" in complaints(BASE + SWEEP + report % "cahce")


# Claims as trees


def test_stable_is_about_each_label_between_two():
    first, *others = (report_check.Figure("qps", (("build", label),)) for label in ("a", "b", "c"))
    expect = "stable(qps(build='a'), qps(build='c'), 0.1)"
    found = report_check.parse_claim(expect, {"build": ["0", "a", "b", "c", "d"]})
    assert found == report_check.Junction(
        True, tuple(report_check.ClaimComparison("similar", figure, first, 0.1) for figure in others)
    )
    assert report_check.parse_claim("stable(qps(n=4), qps(n=1))", {"n": ["1", "2", "4"]}) == report_check.Junction(
        True,
        tuple(
            report_check.ClaimComparison(
                "similar", report_check.Figure("qps", (("n", n),)), report_check.Figure("qps", (("n", 4),))
            )
            for n in ("2", 1)
        ),
    )


def test_a_ratio():
    found = report_check.parse_claim("qps(cache='best', threads=40) / qps() >= 2.5")
    assert isinstance(found, report_check.ClaimComparison)
    assert (found.sign, found.rhs) == (">=", report_check.Number(2.5))
    best, plain = report_check.Figure("qps", (("cache", "best"), ("threads", 40))), report_check.Figure("qps", ())
    assert report_check.evaluate(found.lhs, {best: 30.0, plain: 10.0}) == 3


@pytest.mark.parametrize(("expression", "value"), [("1 + 2 * 3", 7), ("2 ** 3", 8), ("(1 - 4) / 2", -1.5), ("+3", 3)])
def test_arithmetic(expression, value):
    found = report_check.parse_claim(f"{expression} > 0")
    assert isinstance(found, report_check.ClaimComparison)
    assert report_check.evaluate(found.lhs, {}) == value


def test_a_chain_is_all_of_its_comparisons():
    found = report_check.parse_claim("1 < qps() <= 2 or not p50_us() != 3")
    assert isinstance(found, report_check.Junction)
    assert [each.sign for each in report_check.comparisons(found)] == ["<", "<=", "!="]


@pytest.mark.parametrize(
    "expression", ["qps()", "qps() > 'a'", "qps()|abs > 1", "1 if qps() else 2", "qps() in [1]", "[qps()] > 1"]
)
def test_no_claim(expression):
    with pytest.raises(report_check.ClaimError, match=report_check.GRAMMAR.replace("+", r"\+").replace("*", r"\*")):
        report_check.parse_claim(expression)


def test_a_report_leads_with_a_metric_that_exists(compile_text, complaints):
    report = compile_text(SPEC + "report: {metric: p99_us}\n").report
    assert (report.metric, report.declared) == ("p99_us", ("threes",))
    assert "there is no metric `p99_ms`" in complaints(SPEC + "report: {metric: p99_ms}\n")
