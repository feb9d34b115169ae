"""Names by time, and times of files."""

import os
from datetime import UTC, datetime, timedelta

from stepgrid.host.files import write_json
from stepgrid.store import paths
from stepgrid.store.store import Store

FUTURE = "29990101T000000.000007Z"  # of a clock that was set back since


def test_after_the_clock_was_set_back_names_still_follow_each_other():
    assert paths.next_time_name([FUTURE, "20200101T000000.000000Z"]) == "29990101T000000.000008Z"


def test_the_last_time_has_no_next():
    assert paths.next_time_name([paths.LAST_TIME, "99991231T235959.999998Z"]) == paths.LAST_TIME
    assert paths.next_time_name([paths.LAST_TIME]) < FUTURE


def test_a_time_of_another_host_lies_a_day_ahead_at_most():
    def ahead(**more):
        return (datetime.now(UTC) + timedelta(**more)).strftime(paths.TIME_FORMAT)

    assert paths.future_fault(ahead(hours=23)) is None
    wrong = "lies more than a day in the future: the clock of its host was wrong"
    assert paths.future_fault(ahead(hours=25)) == wrong
    assert paths.future_fault(paths.LAST_TIME) == wrong
    assert paths.future_fault("20261399T000000.000000Z") == "is named by no time"


def _set(path, seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (seconds, seconds))


def test_a_result_that_is_published_is_newer_than_every_report(tmp_path):
    store, ahead = Store(tmp_path), 4e9
    _set(store.stamps("p", "r")[1], ahead)
    attempt = store.new_attempt("s-1")
    write_json(attempt / "result.json", {})
    assert (store.publish_result("s-1", attempt) / "result.json").stat().st_mtime > ahead


def test_tables_and_report_are_newer_than_the_results_they_are_made_of(tmp_path):
    store, ahead = Store(tmp_path), 4e9
    result = tmp_path / "results" / "s-1" / "x" / "result.json"
    _set(result, ahead)
    tables, report = (stamp for stamp in store.stamps("p", "r"))
    for path in (tables.with_name("steps.parquet"), report.with_name("index.html")):
        _set(path, 1)
    store.stamp_tables("p", "r", [result])
    store.stamp_report("p", "r")
    made = [tables.with_name("steps.parquet"), tables, report.with_name("index.html"), report]
    times = [path.stat().st_mtime for path in made]
    assert ahead < times[0] <= times[1] < times[2] <= times[3]
