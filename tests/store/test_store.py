"""Publishing; a store as it was; the revision of the code that makes summaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.host.files import write_json
from stepgrid.store.store import REVISION_LENGTH, PastStore, Store, revision, source_digest, time_name_prefix


def test_a_result_is_published_by_rename_and_marked(store):
    attempt = store.new_attempt("s-1")
    write_json(attempt / "result.json", {"status": "done"})
    assert store.attempts("s-1") == [attempt]
    result = store.publish_result("s-1", attempt)
    assert store.attempts("s-1") == []
    assert store.results("s-1") == [result]
    assert str(store.mark("s-1").readlink()) == f"../results/s-1/{attempt.name}/result.json"


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


def test_an_image_takes_the_place_of_the_one_before(store):
    for content in ("old", "new"):
        staged = store.new_image("s-1")
        (staged / "data").mkdir()
        (staged / "data" / "file").write_text(content)
        store.publish_image("s-1", staged)
    assert (store.image("s-1") / "data" / "file").read_text() == "new"
    assert [entry.name for entry in store.image("s-1").parent.iterdir()] == ["s-1"]


def test_leftovers_are_live_folders_and_unfinished_images(store):
    for name in ("live/s-1.12", "images/.s-2.13", "images/s-4", "live/other"):
        (store.root / name).mkdir(parents=True)
    found = [(owner, folder.name) for owner, folder in store.leftovers()]
    assert found == [("s-1", "s-1.12"), ("s-2", ".s-2.13")]


def test_an_image_that_is_put_together_belongs_to_the_job_that_does_it(store):
    """A replay makes its ancestor's image, and holds the lock of its own stage only: that is what a sweep asks for."""
    staged = store.new_image("s-child")
    assert [owner for owner, _ in store.leftovers()] == ["s-child"]
    store.publish_image("s-ancestor", staged)
    assert list(store.leftovers()) == []
    assert store.image("s-ancestor").is_dir()


def test_a_plan_is_published_as_a_whole_and_once(store):
    def write(folder):
        folder.mkdir()
        (folder / "plan.json").write_text("{}")

    store.publish_plan("d1", write)
    store.publish_plan("d1", pytest.fail)
    assert [entry.name for entry in store.plan("d1").parent.iterdir()] == ["d1"]
    assert [entry.name for entry in store.plan("d1").iterdir()] == ["plan.json"]


def test_a_plan_that_another_process_publishes_meanwhile(store):
    def write(folder):
        folder.mkdir()
        (folder / "plan.json").write_text("ours")
        store.plan("d1").mkdir()
        (store.plan("d1") / "plan.json").write_text("theirs")

    store.publish_plan("d1", write)
    assert (store.plan("d1") / "plan.json").read_text() == "theirs"
    assert [entry.name for entry in store.plan("d1").parent.iterdir()] == ["d1"]


def test_stamps_go_when_the_tables_are_made_again(store):
    (store.summary("p") / "tables").mkdir(parents=True)
    store.stamp_tables("p", "r1")
    store.stamp_report("p", "r1")
    assert all(stamp.is_file() for stamp in store.stamps("p", "r1"))
    store.drop_stamps("p")
    store.stamp_tables("p", "r2")
    assert [stamp.is_file() for stamp in (*store.stamps("p", "r1"), *store.stamps("p", "r2"))] == [
        False,
        False,
        True,
        False,
    ]


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


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2026-11-20", "20261120"),
        ("2026-11-20T18", "20261120T18"),
        ("2026-11-20 18:30", "20261120T1830"),
        ("2026-11-20T18:30:05Z", "20261120T183005"),
        ("yesterday", None),
        ("2026-11", None),
        ("abc123", None),
    ],
)
def test_how_names_of_results_begin_until_then(text: str, until: str | None) -> None:
    assert time_name_prefix(text) == until


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


def test_it_is_that_of_the_code_and_stays():
    assert revision() == revision()
    assert len(revision()) == REVISION_LENGTH
    assert set(revision()) <= set("0123456789abcdef")


def test_names_and_contents_count(tmp_path):
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("1")
    two.write_text("2")
    first = source_digest({"a": one, "b": two})
    assert source_digest({"b": two, "a": one}) == first
    assert source_digest({"a": one, "c": two}) != first
    two.write_text("3")
    assert source_digest({"a": one, "b": two}) != first
