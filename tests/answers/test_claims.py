"""What becomes of claims: what holds, what fails, what nobody can tell yet."""

import re
from itertools import product

import numpy as np
import pytest

from stepgrid.cli import output
from stepgrid.collect.job import collect
from stepgrid.model.plan import ConfirmingLoads, PlannedAxis, PlannedClaim
from stepgrid.model.records import replace
from stepgrid.store import stage_requests
from stepgrid.summarize import claims
from stepgrid.summarize.claims import ClaimCase, JudgedClaim
from stepgrid.summarize.report_files import read_report, write_report
from stepgrid_answers.claim_judgement import MORE_LOADS, ClaimEvidence
from stepgrid_answers.claims import judge_claims
from tests.summarize import made, scenario
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

READS = {"step": "readww", "threads": "1", "build": NEW}


def make_report(found):
    collect(found.store, found.plan)
    return read_report(found.store, found.plan.digest)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return make_report(scenario.experiment(tmp_path_factory.mktemp("claims")))


def claim(
    report,
    expect,
    evidence=ClaimEvidence(),  # noqa: B008
    caveat=lambda *_: None,
    **where,
):
    points = [point for section in report.comparisons.sections for point in section.points]
    claims = [PlannedClaim(claim="c", expect=expect, where=where)]
    return judge_claims(claims, report.setup.axes, points, caveat, evidence)[0]


def numbers(found):
    """Of all cases; behind the last of a case what is to be known of them, marks apart."""
    return [said for case in found.cases for said in _numbers(case)]


def _numbers(case):
    marks = [note for note in case.notes if note.startswith("*")]
    return [
        *case.numbers[:-1],
        "; ".join((case.numbers[-1], *(note for note in case.notes if note not in marks))),
        *marks,
    ]


@pytest.mark.parametrize(
    ("expect", "result"),
    [
        ("similar(qps(cache='hyper'), qps(cache='lru'))", "holds"),
        ("similar(qps(cache='hyper'), qps(cache='lru'), 0.1)", "undecided"),
        ("qps(cache='hyper') > qps(cache='lru')", "undecided"),
    ],
)
def test_within_the_noise_floor_two_figures_are_similar_and_nothing_else_is_known(report, expect, result):
    evidence = ClaimEvidence(floor=lambda *_: 0.6)
    assert claim(report, expect, evidence=evidence, **READS).result == result


def test_sides_are_told_apart_by_their_labels_or_metrics(report):
    per_time = "qps(cache='{0}') / p50_us(cache='{0}')".format
    (arms,) = numbers(claim(report, f"{per_time('hyper')} > {per_time('lru')}", **READS))
    assert re.fullmatch(r"cache=hyper [\d,.]+ against cache=lru [\d,.]+: 2\.25× .*", arms)
    (figures,) = numbers(claim(report, "qps(cache='lru') > p50_us(cache='lru')", **READS))
    assert figures.startswith("qps 10,000 against p50_us 100: ")


@pytest.mark.parametrize(("strict", "status"), [(None, 0), ("fails", 0), ("undecided", 4)])
def test_an_undecided_claim_fails_a_gate_that_asks_for_it(report, strict, status):
    undecided = claim(report, "qps(cache='hyper') >= 1.5 * qps(cache='lru')", **READS)
    judged = replace(report, comparisons=replace(report.comparisons, claims=(undecided,)))
    assert output.claim_status(judged, strict) == status


AXES = [PlannedAxis("arm", ("a", "b"))]
FASTER = "qps(arm='b') >= {least} * qps(arm='a')"


def two_arms(base, arm):
    """Make arms of these QPS by load."""
    rows = {"a": base, "b": arm}
    return [made.point(*(made.run(name, load, qps) for load, qps in enumerate(row, 1))) for name, row in rows.items()]


def judge(expect, points, floor=None, **claim):
    evidence = ClaimEvidence(lambda _, __, ___: floor)
    [judged] = judge_claims([PlannedClaim(claim="c", expect=expect, **claim)], AXES, points, evidence=evidence)
    [case] = judged.cases
    return case


@pytest.mark.parametrize(("metric", "result"), [("p50_us", "undecided"), ("qps", "fails")])
def test_any_metric_has_its_own_noise_floor(report, metric, result):
    evidence = ClaimEvidence(lambda name, _, __: 1.0 if name == metric else 0.01)
    [found] = claim(report, "p50_us(cache='hyper') > p50_us(cache='lru')", evidence=evidence, **READS).cases
    assert found.result == result
    assert ("within the noise floor (100 %)" in found.notes) == (metric == "p50_us")


LEVELS = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0)
CONFIRM = ConfirmingLoads(3, 3)


@pytest.mark.parametrize(("hyper", "loads"), [(8_000, 6), (10_000, None)])
def test_fresh_loads_are_asked_for_where_it_fails(tmp_path, hyper, loads):
    claim = {"claim": "is no slower", "expect": "qps(cache='hyper') >= 0.95 * qps(cache='lru')",
             "where": {"step": "readww", "threads": "1"}, "confirm": CONFIRM}  # fmt: skip
    found = Experiment(tmp_path, loads=3, threads=("1",), claims=[claim])
    found.add_build(NEW)
    for load, level in enumerate(LEVELS[:3]):
        found.add_load(NEW, load, 300_000 * level)
        for cache, rate in (("lru", 10_000 * level), ("hyper", hyper * level)):
            found.add(NEW, cache, "1", load, {"readww": rate, "overwrite": rate})
    write_report(found.store, make_report(found))
    for cache in ("lru", "hyper"):
        stage = found.stage(NEW, cache, "1", 0)
        assert stage_requests.requested_loads(found.store, stage) == (loads or 0)
        if loads:
            reason = stage_requests.load_request_reason(found.store, stage)
            assert reason == "claim `is no slower` is to be confirmed"


# Equal arms on a noisy host: a claim fails no more often than its interval says.


def failures(expect, noise, loads):
    """Judge 200 reports whose blocks differ by as much as their loads do."""
    chance = np.random.default_rng(5)
    outcomes = []
    for _ in range(200):
        blocks = chance.lognormal(0, noise, loads)
        base, arm = (1e5 * blocks * chance.lognormal(0, noise, loads) for _ in range(2))
        outcomes.append(judge(expect, two_arms(base.tolist(), arm.tolist())).result)
    return outcomes


@pytest.mark.parametrize(("noise", "loads"), [*product((0.03, 0.1, 0.3), (2, 3, 5))])
def test_half_of_what_an_interval_leaves_out_fails_at_most(noise, loads):
    """Of 95 % intervals 2.5 % lie below 1: 5 of 200 reports, and no more than 13 but once in 1,000 such tests."""
    assert failures(FASTER.format(least=1), noise, loads).count("fails") <= 13


@pytest.mark.parametrize("loads", [3, 5])
def test_a_claim_that_leaves_room_for_the_noise_does_not_fail(loads):
    assert failures(FASTER.format(least=0.9), 0.03, loads).count("fails") == 0


def test_what_all_points_have_in_common_is_said_once():
    notes = "one load decides nothing", "more loads may decide it"
    cases = ClaimCase("holds", "q1", ("2", "3"), notes[:1]), ClaimCase("undecided", "q2", ("1", "4"), notes)
    found = JudgedClaim("c", "e", "undecided", cases, "l.i1, data=cached")
    assert [*claims.lines([found])] == [
        "undecided: c",
        "  e, at l.i1, data=cached, undecided at 1 of 2 points",
        "  each: one load decides nothing",
        "  q2: 1; 4; more loads may decide it",
        "  holds at q1",
    ]
    assert [cell.text for cell in claims.table([found]).rows[0]][-1] == "2; 3; one load decides nothing"
    (alone,) = JudgedClaim("c", "e", "holds", cases[:1], "l.i1").cases
    assert [*claims.lines([JudgedClaim("c", "e", "holds", (alone,), "l.i1")])][1:] == [
        "  e, at l.i1",
        "  q1: 2; 3; one load decides nothing",
    ]


def test_where_it_comes_out_otherwise_is_named():
    cases = (
        *(ClaimCase("fails", f"q{at}", ("1",)) for at in range(4)),
        *(ClaimCase("holds", f"l{at}", ("2",)) for at in range(8)),
    )
    found = JudgedClaim("c", "e", "fails", cases)
    assert [*claims.lines([found, JudgedClaim("d", "f", "undecided", ())])] == [
        "Claims 2: ✘ 1 fails ? 1 undecided",
        "fails: c",
        "  e, fails at 4 of 12 points",
        "  q0: 1",
        "  q1: 1",
        "  q2: 1",
        "  and 1 more, on the page",
        "  holds at l0; l1; l2; l3; l4; l5; and 2 more",
        "undecided: d",
        "  f",
    ]


def test_a_claim_has_one_line_of_a_brief_list():
    alone = JudgedClaim(
        "is fast", "e", "holds", (ClaimCase("holds", "q1", ("1.50× [1.49, 1.51] (claimed ≥ 1.4×)", "2")),)
    )
    cases = ClaimCase("undecided", "q1", ("0.90× (claimed ≥ 1×)",), (MORE_LOADS,)), ClaimCase("holds", "q2", ("2",))
    mixed = JudgedClaim("is no slower", "e", "undecided", cases)
    parts = JudgedClaim("is both", "e", "fails", (ClaimCase("fails", "", ("holds: qps: 3", "fails: p99_us: 4")),))
    assert [claims.brief_line(claim) for claim in (parts, alone, mixed)] == [
        "✘ fails: is both: p99_us: 4",
        "✔ holds: is fast: 1.50× [1.49, 1.51] (claimed ≥ 1.4×)",
        "? undecided at 1 of 2 points: is no slower: 0.90× (claimed ≥ 1×)",
    ]
    assert claims.brief_count([alone, alone, mixed]) == "Claims 3: ✔ 2 hold ? 1 undecided"
