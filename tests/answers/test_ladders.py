"""Stages that were measured on several days: the day on which a point changed."""

from stepgrid.model.plan import PlannedAxis
from stepgrid.model.records import replace
from stepgrid.store import store as store_module
from stepgrid.summarize import summary_text
from stepgrid.summarize.comparisons.judgement import RatioEvidence
from stepgrid.summarize.data.tables_reader import PastFigure, Tables
from stepgrid_answers.ladders import date_ladder
from stepgrid_page import html_page
from tests.summarize import made, scenario
from tests.summarize.synthetic import Experiment

AXES = [PlannedAxis("arm", ("a", "b"))]
DAYS = ("20261116", "20261117", "20261118", "20261119", "20261120")
NOISE = (1.001, 0.999, 1.0, 1.002)
HOST = {"host": {"s/1": {"hostname": "here"}}}


class Floor:
    """A noise floor that is the same for all runs of one load; a point has those alone."""

    def __init__(self, height):
        self.height = height

    def floor(self, _point, _base, shares_loads, _metric):
        return self.height if shares_loads else None


def ladder(rates, loads=3, host="here", floor=None, disturbed=()):
    """The newest day is that of the report; others used the host in these loads of a day, of all arms."""
    points, past = [], list[PastFigure]()
    for arm, days in rates.items():
        found = made.point(*(run(arm, load, days) for load in range(1, loads + 1)))
        points.append(found)
        past += [older(found, load, at, days[at], host) for at in range(len(days) - 1) for load in range(loads)]
    runs = tuple(run for point in points for run in point.runs)
    busy = [f"{run.place[0]}/{attempt(day)}" for run in runs for day, load in disturbed if run.load == load]
    facts = {**HOST, "past noise": {key: {"warning": ""} for key in busy}}
    tables = Tables(runs, {}, facts, history=tuple(past))
    return date_ladder(AXES, points, tables, RatioEvidence({}, 0.02, Floor(floor)))


def run(arm, load, days):
    return replace(made.run(arm, load, days[-1] * NOISE[load % 4]), attempt=attempt(len(days) - 1))


def attempt(day):
    return f"{DAYS[day]}T101500.000000Z"


def older(point, load, day, qps, host):
    place, noise = point.runs[load].place, NOISE[(day + load) % 4]
    known = made.past("c", load, qps * noise, host=host)
    return replace(known, place=place, attempt=attempt(day))


def test_two_days_another_host_and_single_loads_are_no_ladder():
    assert ladder({"a": [1000, 900]}) is None
    assert ladder({"a": [1000, 1000, 900]}, host="elsewhere") is None
    found = ladder({"a": [1000, 1000, 900, 900]}, loads=1)
    assert found.changes == (), "nothing tells the noise"


def test_what_is_within_the_noise_floor_is_no_change():
    found = ladder({"a": [1000, 1000, 900, 900, 900]}, floor=0.2)
    assert found.changes == ()


def test_results_of_a_store(tmp_path, monkeypatch):
    """One arm is slower from the third day on."""
    found = Experiment(tmp_path, threads=("1",))
    build = found.builds[0]
    for day in range(4):
        monkeypatch.setattr(store_module, "next_time_name", lambda _, day=day: attempt(day))
        if day == 0:
            found.add_build(build)
        for load in range(3):
            found.add_load(build, load, 3e5 * NOISE[(day + load) % 4])
            for cache, slow in (("lru", 0.8 if day > 1 else 1.0), ("hyper", 1.0)):
                rate = 1e4 * slow * NOISE[(day + 2 * load) % 4]
                found.add(build, cache, "1", load, {"readww": rate, "overwrite": 1e4})
    report = scenario.report(found)
    assert (
        "changes\n-------\n  from `2026-11-18` on: readww, cache=lru 0.800 [0.797, 0.803] slower"
        in summary_text.text(report, None)
    )
    assert "<h2>Changes along date</h2>" in html_page.page(report)


def test_a_point_that_did_nothing_on_a_day_is_not_judged():
    found = ladder({"a": [1000, 0, 900, 900, 900], "b": [500] * 5})
    assert found.sentences == [
        "no change from one date to the next in 2026-11-16 to 2026-11-20",
        "not judged: readww, arm=a: a load did nothing (0 QPS) on 2026-11-17",
    ]


def test_days_on_which_others_used_the_host_are_in_no_level():
    slow = {"a": [1000, 1000, 1000, 900, 900]}
    assert "from `2026-11-19` on" in ladder(slow).sentences[0]
    found = ladder(slow, disturbed=[(3, 1), (3, 2), (4, 2), (4, 3)])
    assert found.sentences == [
        "no change from one date to the next in 2026-11-16 to 2026-11-18",
        "not judged: readww, arm=a: others used the host in most loads on 2026-11-19, 2026-11-20",
    ]
