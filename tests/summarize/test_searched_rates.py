"""Verdicts of searched values: only what holds wherever a limit lies between what held and what failed."""

import math

import pytest

from stepgrid.cli.output import check_gate
from stepgrid.host.terminal_output import Paint
from stepgrid.model.plan import CellStep, PlannedAxis, PlannedClaim, PlannedSearch
from stepgrid.model.records import replace
from stepgrid.summarize import summary_text
from stepgrid.summarize.findings import findings
from stepgrid.summarize.gate import Condition, Gate, gate_cases
from stepgrid.summarize.report import make_report
from stepgrid.summarize.report_tables import search_tables
from stepgrid_page.json_document import report_document
from tests.summarize import made, test_reports

SEARCH = PlannedSearch("readww", "rate", "rate", 10, 1000, "max rate where p99_us < 9", 8)
BASE = [(100, 110)] * 3


def report_of(loads, *others, shares=(), is_alone=False, is_busy=False, warning="", claim=""):
    """`loads`: of the arm, what held and what failed, None where nothing did; of one that failed nothing at all.

    `shares`: rates of a step that is not searched."""
    runs, noise = [], {}
    for arm, ends in (("base", BASE[: len(loads)]), ("other", loads)):
        for load, pair in enumerate(ends, 1):
            tries = [(value, holds) for value, holds in zip(pair or (), (1.0, 0.0), strict=False) if value] * 4
            for number, (value, holds) in enumerate(tries or [(None, None)]):
                run = made.run(arm, load, 1.0, tried_value=value, tried_holds=holds, target_qps=value)
                labels, place = {"arm": arm, "rate": f"#{number}"}, (f"s-{arm}-{load}", number)
                status, metrics = ("done", run.metrics) if value else ("failed", {})
                warnings = (warning,) * bool(warning)
                runs.append(replace(run, labels=labels, place=place, status=status, metrics=metrics, warnings=warnings))
            noise |= {f"s-{arm}-{load}/1": {"warning": "others used 120 % of a core"}} if is_busy else {}
            if not is_alone:
                runs.append(replace(made.run(arm, load, 400.0), step="max", place=(f"s-{arm}-{load}", 9)))
            for number, share in enumerate(shares, 10):
                run = made.run(arm, load, 1.0 * number)
                labels, place = {"arm": arm, "rate": share}, (f"s-{arm}-{load}", number)
                runs.append(replace(run, step="paced", labels=labels, place=place))
    plan = test_reports.plan_of({"steps": {"readww": {"base": {}, "other": {}}}}, len(loads))
    rate = PlannedAxis("rate", (*shares, *(f"#{number}" for number in range(8))), ("paced", "readww")[not shares :])
    searches = (SEARCH, *others)
    tables = replace(made.tables(runs), facts={"noise": noise})
    claims = (PlannedClaim(claim="", expect=claim),) * bool(claim)
    plan = replace(plan, report=replace(plan.report, claims=claims))
    return make_report(replace(plan, searches=searches, axes=(*plan.axes, rate)), tables)


@pytest.mark.parametrize(
    ("loads", "text", "verdict"),
    [
        ([(110, 121)] * 3, "1.10× [0.99, 1.22] undecided", "undecided"),  # the next value, and no spread at all
        ([(121, 133)] * 3, "1.21× [1.09, 1.34] better", "better"),
        ([(50, 55)] * 3, "0.50× [0.45, 0.55] worse", "worse"),
        ([(90, 130), (110, 140), (100, 120)], "1.00× [0.71, 1.66] undecided", "undecided"),
        ([(1000, None)] * 3, "at least 9.09× [9.03, unbounded] better", "better"),
        ([(110, None)] * 3, "at least 1.00× [unbounded] undecided", "undecided"),
        ([(None, 10)] * 3, "at most 0.10× [0.00, 0.10] worse", "worse"),
        ([(None, 10), (1000, None), (500, 550)], "1.71× [unbounded] undecided", "undecided"),
        ([(200, 220)], "2.00×", "one load"),
        ([(200, 220), (200, 220), None], "2.00× [1.78, 2.25] better: 2 of 3 loads; 1 failed; in the 2 loads that both "
         "have 200, 100 of the base", "better"),
    ],
)  # fmt: skip
def test_a_verdict_holds_for_every_value_of_the_brackets(loads, text, verdict):
    ((case,),) = (comparison.cases() for comparison in report_of(loads).comparisons.all[-1:])
    assert (case.entry.text, case.entry.verdict) == (text, verdict)


OTHER, RATIO = "highest_rate(arm='other')", "highest_rate(arm='other') {} highest_rate(arm='base')"


@pytest.mark.parametrize(
    ("loads", "claim", "result", "numbers"),
    [
        ([(110, 121)] * 3, RATIO.format(">"), "undecided", "1.10× [0.99, 1.22] (claimed > 1×)"),
        ([(121, 133)] * 3, RATIO.format(">"), "holds", "1.21× [1.09, 1.34] (claimed > 1×)"),
        ([(50, 55)] * 3, RATIO.format(">="), "fails", "0.50× [0.45, 0.55] (claimed ≥ 1×)"),
        ([(1000, None)] * 3, RATIO.format("<"), "fails", "at least 9.09× [9.03, unbounded] (claimed < 1×)"),
        ([(200, 220)] * 3, f"{OTHER} >= 210", "undecided", "200 [199, 221] (claimed ≥ 210)"),
        ([(200, 220)] * 3, f"{OTHER} < 230", "holds", "200 [199, 221] (claimed < 230)"),
        ([(200, 220)] * 3, f"{OTHER} == 200", "undecided", "200"),
        ([(1000, None)] * 3, f"{OTHER} > 1500", "undecided", "at least 1,000 [994, unbounded] (claimed > 1,500)"),
        ([(None, 10)] * 3, f"{OTHER} < 11", "holds", "at most 10.00 [0, 10.06] (claimed < 11)"),
        ([(200, 220)] * 3, f"{OTHER} < 0.5 * qps(arm='other', step='max')", "undecided",
         "highest_rate 200 against max 200: 1.00× [0.99, 1.11]"),
        ([(200, 220)], f"{OTHER} > 100", "undecided", "200 [200, 220] (claimed > 100)"),
        ([(None, 10)], f"{OTHER} >= 5", "undecided", "at most 10.00 [0, 10.00] (claimed ≥ 5)"),
    ],
)  # fmt: skip
def test_a_claim_holds_for_every_value_of_the_brackets(loads, claim, result, numbers):
    (judged,) = report_of(loads, claim=claim).comparisons.claims
    assert (judged.result, judged.cases[0].numbers) == (result, (numbers,))


def test_an_answer_has_its_bracket_everywhere():
    report = report_of([(1000, None)] * 3)
    headline = "arm=other: at least 9.09× the highest_rate of arm=base, in readww (better, certain)"
    assert findings(report)[1].sentence == headline
    (case,) = (case for case in report_document(report)["comparisons"] if case["metric"] == "highest_rate")
    assert [case["interval"][1], case["bracket"]] == [None, (0.0, math.inf)]
    text = summary_text.text(report, None)
    assert "readww  100 to 110             at least 9.09 [9.03, unbounded] better" in text


@pytest.mark.parametrize(
    ("loads", "row"),
    [([(1000, None)] * 3, "1,000 - - 3 400 max"), ([(269, 500), (None, 22)], "269 - 500 1 of 2 400 max")],
)
def test_a_value_fails_from_one_of_the_loads_that_have_an_answer(loads, row):
    _, other = next(search_tables(report_of(loads).comparisons.searches)).rows
    assert " ".join(cell.text for cell in other[1:]) == row


def test_a_load_without_an_answer_may_have_held_a_value():
    table = next(search_tables(report_of([(100, 110), (500, 22)]).comparisons.searches))
    assert [row[-2].text for row in table.rows][1:] == ["1 of 2"]
    assert table.notes[-1].endswith("the others have no such value: the result is not of all loads")


def test_doubts_count_what_searches_tried():
    report = report_of([(200, 220)] * 3, is_alone=True, warning="swapped")
    assert [doubt.text for doubt in report.notes.doubts if doubt.brief.startswith("swapped")] == [
        "readww of b: swapped"
    ]


def test_arms_that_searched_otherwise_get_no_verdict():
    answer = findings(report_of([(200, 220)] * 3, replace(SEARCH, most=500)))[1]
    assert "no verdict" in answer.headline
    assert answer.qualifier == "searched over another range or for another limit"


def test_a_step_that_is_not_searched_keeps_the_variable_of_a_search():
    report = report_of([(200, 220)] * 3, shares=("10%", "80%"))
    rows = [(row.step, *row.labels) for row in report.comparisons.all[0].rows]
    assert rows == [("max", None), ("paced", "10%"), ("paced", "80%")]
    assert report.setup.axes[-1] == PlannedAxis("rate", ("10%", "80%"), ("paced",))
    (limit,) = report.comparisons.limits
    assert [row.labels for row in limit.rows] == [()]


def test_a_gate_sees_a_limit_beside_another_metric():
    gate = Gate((Condition("slower", frozenset({"readww"})),))
    report = report_of([(50, 55)] * 3)
    assert [(case.name, case.text) for case in gate_cases(report, gate) if case.is_refused] == [
        ("readww, arm=other, highest_rate", "0.50× [0.45, 0.55] worse")
    ]
    step = CellStep("readww[rate=#1]", "db_bench", 0, 0, True, "readww", {"rate": "#1"})
    plan = test_reports.plan_of({"steps": {"readww": {"base": {}}}}, 1)
    check_gate(gate, replace(plan, cells=(replace(plan.cells[0], steps=(step,)),)))


def test_the_brief_has_limits_beside_as_many_arms_by_another_metric(monkeypatch):
    monkeypatch.setattr(summary_text, "MOST_ARMS", 1)
    lines = summary_text.brief_lines(report_of([(200, 220)] * 3, is_busy=True), None, 100, Paint())
    assert [line.split(":")[1].split(" ")[1] for line in lines if line.startswith("  arm ")] == ["QPS", "highest_rate"]


def test_searches_on_a_busy_host():
    report = report_of([(1000, None)] * 3, is_alone=True, is_busy=True)
    (answer,) = findings(report)
    assert answer.detail == "against arm=base, in readww: at least 9.09× came out"
    (doubt,) = (doubt for doubt in report.notes.doubts if "disturbed" in doubt.brief)
    assert doubt.brief == "6 of 6 stages disturbed"
    assert "(b, arm=base, load 1; b, arm=base, load 2; " in doubt.text


def test_of_searches_alone_nothing_is_said_that_they_do_not_have():
    text = summary_text.text(report_of([(200, 220)] * 3, is_alone=True), None)
    assert text.splitlines()[2].startswith("readww (size of data not measured) ")
    assert "the highest_rate of arm=base" in text
    assert not [words for words in ("p99 is not", "`operations`", "not looked for", "no cause") if words in text]
