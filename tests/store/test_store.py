"""Publishing; a store as it was; the revision of the code that makes summaries."""

from pathlib import Path

from stepgrid.host.files import write_json
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


def test_later_results_are_not_there(tmp_path: Path) -> None:
    store = Store(tmp_path / "outputs")
    for name in ("20261119T235959.000000Z", "20261120T183059.999999Z", "20261120T183100.000000Z"):
        folder = store.results_of("s-1") / name
        folder.mkdir(parents=True)
        (folder / "result.json").write_text("{}")

    def there(date: str) -> list[str]:
        return [each.name[:13] for each in PastStore(store, time_name_prefix(date) or "", tmp_path).results("s-1")]

    assert there("2026-11-18") == []
    assert there("2026-11-19") == ["20261119T2359"]
    assert there("2026-11-20T18:30") == ["20261119T2359", "20261120T1830"]
    assert there("2026-11-20") == ["20261119T2359", "20261120T1830", "20261120T1831"]
    assert PastStore(store, "2026", tmp_path / "made").tables("p") == tmp_path / "made/p/tables"
