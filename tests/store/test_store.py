"""Publishing; a store as it was; the revision of the code that makes summaries."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from stepgrid.host.files import write_json
from stepgrid.host.locks import LockBusy
from stepgrid.store import images, paths
from stepgrid.store.paths import folder_bytes
from stepgrid.store.store import PastStore, Store, time_name_prefix


def test_the_newest_complete_result_counts(store):
    for _ in range(2):
        attempt = store.new_attempt("s-1")
        write_json(attempt / "result.json", {})
        last = store.publish_result("s-1", attempt)
    incomplete = store.root / "results" / "s-1" / "29990101T000000.000000Z"
    incomplete.mkdir()
    assert store.result("s-1") == last
    assert len(store.results("s-1")) == 2
    assert store.result("s-2") is None


def test_a_plan_that_another_process_publishes_meanwhile(store):
    def write(folder):
        folder.mkdir()
        (folder / "plan.json").write_text("ours")
        store.plan("d1").mkdir()
        (store.plan("d1") / "plan.json").write_text("theirs")

    store.publish_plan("d1", write)
    assert (store.plan("d1") / "plan.json").read_text() == "theirs"
    assert [entry.name for entry in store.plan("d1").parent.iterdir()] == ["d1"]


def test_a_named_mark_that_leads_nowhere_is_dropped_or_all_are(store, monkeypatch):
    folder = store.mark("p") / "stages"
    for node, name in (("s-1", "one"), ("s-2", "two")):
        monkeypatch.setenv("STEPGRID_MARK", str(folder / name))
        monkeypatch.setenv("STEPGRID_LOG", str(store.mark("p") / "log" / name))
        attempt = store.new_attempt(node)
        write_json(attempt / "result.json", {})
        store.publish_result(node, attempt)
    (store.result("s-1") / "result.json").unlink()
    store.drop_named_marks("p", all_of_them=False)
    assert [entry.name for entry in folder.iterdir()] == ["two"]
    store.drop_named_marks("p", all_of_them=True)
    assert [*folder.iterdir()] == []
    logs = {entry.name: str(entry.readlink()) for entry in (store.mark("p") / "log").iterdir()}
    assert logs["two"] == f"../../../results/s-2/{store.result('s-2').name}/journal.jsonl"
    assert len(list(store.mark("_").parent.glob("s-*"))) == 2


def test_later_results_are_not_there(tmp_path):
    store = Store(tmp_path / "outputs")
    for name in ("20261119T235959.000000Z", "20261120T183059.999999Z", "20261120T183100.000000Z"):
        folder = store.results_of("s-1") / name
        folder.mkdir(parents=True)
        (folder / "result.json").write_text("{}")

    def there(date):
        return [each.name[:13] for each in PastStore(store, time_name_prefix(date) or "", tmp_path).results("s-1")]

    assert there("2026-11-18") == []
    assert there("2026-11-19") == ["20261119T2359"]
    assert there("2026-11-20T18:30") == ["20261119T2359", "20261120T1830"]
    assert there("2026-11-20") == ["20261119T2359", "20261120T1830", "20261120T1831"]
    assert PastStore(store, "2026", tmp_path / "made").tables("p") == tmp_path / "made/p/tables"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "outputs")


def image(store, stage, files, used, **more):
    staged = store.new_image(stage)
    (staged / "data").mkdir()
    for name, size in files.items():
        (staged / "data" / name).write_bytes(b"x" * size)
    write_json(staged / "image.json", {"stage": stage, **more})
    os.utime(staged / "image.json", (used, used))
    store.publish_image(stage, staged)
    return store.image(stage)


def test_what_is_shared_is_not_its_own_and_counts_once(store):
    one = image(store, "s-1", {"a.sst": 8192, "b": 4096}, 1.0)
    two = image(store, "s-2", {}, 2.0)
    os.link(one / "data" / "a.sst", two / "data" / "a.sst")
    found = {each.stage: each for each in images.list_images(store)}
    assert found["s-1"].bytes - found["s-1"].unshared == 8192
    assert found["s-2"].bytes - found["s-2"].unshared == 8192
    assert folder_bytes(one, two) == found["s-1"].bytes + found["s-2"].unshared


def test_one_that_is_held_is_not_evicted(store):
    image(store, "s-1", {"a": 1}, 1.0)
    with images.hold_image(store, "s-1"), pytest.raises(LockBusy):
        images.evict_image(store, "s-9", "s-1")
    images.evict_image(store, "s-9", "s-1")
    assert list(store.image("_").parent.iterdir()) == []
    assert not list(store.lock("_").parent.glob("image-*"))


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
