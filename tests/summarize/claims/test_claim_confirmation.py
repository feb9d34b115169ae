"""A claim that fails in the first loads fails only where fresh loads fail it, too; the report has both numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from stepgrid.collect.job import collect
from stepgrid.store import stage_requests
from stepgrid.summarize.claims.claim import Claim
from stepgrid.summarize.report_files import read_report, write_report
from tests.summarize.scenario import NEW
from tests.summarize.synthetic import Experiment

LEVELS = (1.0, 1.01, 0.99, 1.005, 0.995, 1.0)
CLAIM = {
    "claim": "hyper is no slower",
    "expect": "qps(cache='hyper') >= 0.95 * qps(cache='lru')",
    "where": {"step": "readww", "threads": "1"},
    "confirm": {"first": 3, "fresh": 3},
}


def experiment(root: Path, ratios: Sequence[float]) -> Experiment:
    """hyper to lru, by load."""
    found = Experiment(root, loads=len(ratios), threads=("1",), claims=[CLAIM])
    found.add_build(NEW)
    for load, (level, ratio) in enumerate(zip(LEVELS, ratios, strict=False)):
        found.add_load(NEW, load, 300_000 * level)
        for cache, rate in (("lru", 10_000 * level), ("hyper", 10_000 * level * ratio)):
            found.add(NEW, cache, "1", load, {"readww": rate, "overwrite": rate})
    return found


def judged(found: Experiment) -> Claim:
    collect(found.store, found.plan)
    report = read_report(found.store, found.plan.digest)
    write_report(found.store, report)
    [claim] = report.comparisons.claims
    return claim


SLOW, FAIR = (0.8, 0.81, 0.79), (1.0, 1.01, 0.99)
CLAIMED = r"\[.*\] \(claimed ≥ 0\.95×\)"
SUSPECTED = rf"loads 1 to 3: 0\.80× {CLAIMED}"


@pytest.mark.parametrize(
    ("ratios", "result", "said"),
    [
        (SLOW, "undecided", rf"{SUSPECTED}; loads 4 to 6 are to confirm it"),
        ((*SLOW, *SLOW), "fails", rf"{SUSPECTED}; confirmed by loads 4 to 6: 0\.80× {CLAIMED}"),
        (
            (*SLOW, *FAIR),
            "undecided",
            rf"{SUSPECTED}; not confirmed by loads 4 to 6: 1\.00× {CLAIMED}",
        ),
        (FAIR, "holds", r"loads"),
        ((*FAIR, *SLOW), "holds", r"loads"),
    ],
)
def test_both_numbers(tmp_path: Path, ratios: Sequence[float], result: str, said: str) -> None:
    claim = judged(experiment(tmp_path, ratios))
    assert claim.result == result
    [case] = claim.cases
    if result == "holds":
        assert said not in "; ".join(case.said)
    else:
        assert re.fullmatch(said, "; ".join(case.said))


def test_fresh_loads_are_asked_for_once(tmp_path: Path) -> None:
    found = experiment(tmp_path, SLOW)
    judged(found)
    for cache in ("lru", "hyper"):
        stage = found.stage(NEW, cache, "1", 0)
        assert stage_requests.requested_loads(found.store, stage) == 6
        assert stage_requests.load_request_reason(found.store, stage) == "claim `hyper is no slower` is to be confirmed"


def test_nothing_is_asked_for_where_it_holds(tmp_path: Path) -> None:
    found = experiment(tmp_path, FAIR)
    judged(found)
    assert not (found.store.root / "loads").exists()
