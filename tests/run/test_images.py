"""Databases that stages start from and leave behind: images, damage, copies, live folders."""

import json
import os

import pytest

from stepgrid.host.failure import StageError
from stepgrid.host.files import scan
from stepgrid.host.page_cache import residency
from stepgrid.model.plan import Option
from stepgrid.run.attempt import Attempt, Job
from stepgrid.run.images import SavingRules, distrusting, save, verify
from stepgrid.store import images, paths
from stepgrid.store.images import image_damage
from stepgrid.store.store import Store

SHOW = """
import os, sys
data = sys.argv[1]
for name in ["000001.sst", "MANIFEST"]:
    print(name, os.stat(data + "/" + name).st_nlink)
print(sorted(os.listdir(data)))
"""
APPEND = "import sys; open(sys.argv[1] + '/MANIFEST', 'a').write('more'); print(open(sys.argv[1] + '/MANIFEST').read())"


@pytest.fixture
def family(checkout, stage, step):
    """A load with two children, one of which has a child."""
    checkout.plan(
        stage("s-a", children=["s-b", "s-c"]),
        stage("s-b", step("show", SHOW), parent="s-a"),
        stage("s-c", step("append", APPEND), parent="s-a", children=["s-d"]),
        stage("s-d", step("append", APPEND), parent="s-c"),
    )
    return checkout


def _out(checkout, stage, step):
    return (checkout.store.result(stage) / "steps" / f"0-{step}" / "stdout").read_text()


def test_an_image_is_kept_for_children_and_restored(family):
    assert family.run("s-a").returncode == 0
    record = json.loads((family.store.image("s-a") / "image.json").read_text())
    assert record["files"] == {"000001.sst": 5000, "MANIFEST": 300, "inner/000002.sst": 700}
    assert record["folders"] == ["inner"]
    assert record["bytes"] == 6000
    assert family.run("s-b").returncode == 0
    shown = _out(family, "s-b", "show")
    image = family.attempt("s-b")["image"]
    assert (image["parent"], image["bytes"], image["replayed"]) == ("s-a", 6000, False)
    assert image["method"] in ("hardlink", "reflink")
    shared = 2 if image["method"] == "hardlink" else 1
    assert shown == f"000001.sst {shared}\nMANIFEST 1\n['000001.sst', 'MANIFEST', 'inner']\n"
    assert family.live() == []


def test_children_do_not_see_each_other(family):
    for stage in ("s-a", "s-c", "s-d"):
        assert family.run(stage).returncode == 0
    assert _out(family, "s-c", "append") == "m" * 300 + "more\n"
    assert _out(family, "s-d", "append") == "m" * 300 + "moremore\n"
    assert (family.store.image("s-a") / "data" / "MANIFEST").stat().st_size == 300


def _remove(folder):
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()


def test_a_lost_image_is_replayed_and_made_again_for_the_others(family):
    assert family.run("s-a").returncode == 0
    _remove(family.store.image("s-a"))
    assert family.run("s-c").returncode == 0
    image = family.attempt("s-c")["image"]
    assert (image["replayed"], image["stages_replayed"]) == (True, ["s-a"])
    assert image["method"] in ("hardlink", "reflink")  # like its sibling, since the image was made first
    assert len(family.store.results("s-a")) == 1
    replay = family.store.result("s-c") / "replay" / "s-a" / "steps" / "0-load"
    assert (replay / "stdout").read_text() == "loaded\n"
    record = json.loads((family.store.image("s-a") / "image.json").read_text())
    assert record["replayed"] is True
    assert family.run("s-b").returncode == 0
    assert family.attempt("s-b")["image"]["replayed"] is False


def test_the_last_child_replays_in_place(family):
    for stage in ("s-a", "s-b"):
        assert family.run(stage).returncode == 0
    _remove(family.store.image("s-a"))
    assert family.run("s-c").returncode == 0
    image = family.attempt("s-c")["image"]
    assert (image["method"], image["replayed"]) == ("replay", True)
    assert not family.store.image("s-a").exists()
    assert _out(family, "s-c", "append") == "m" * 300 + "more\n"


def test_a_replay_of_two_generations(family):
    for stage in ("s-a", "s-b", "s-c"):
        assert family.run(stage).returncode == 0
    _remove(family.store.image("s-c"))
    _remove(family.store.image("s-a"))
    assert family.run("s-d").returncode == 0
    assert family.attempt("s-d")["image"]["stages_replayed"] == ["s-a", "s-c"]
    assert _out(family, "s-d", "append") == "m" * 300 + "moremore\n"


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: (data / "000001.sst").write_text("short"), "000001.sst: 5000 bytes expected, 5 bytes found"),
        (lambda data: (data / "MANIFEST").unlink(), "MANIFEST: 300 bytes expected, no such file found"),
        (lambda data: (data / "extra").write_text("x"), "extra: no such file expected, 1 bytes found"),
        (lambda data: (data / "empty").mkdir(), "its folders or symbolic links are not those of the list"),
        (lambda data: (data.parent / "image.json").write_text("{"), ""),
    ],
)
def test_a_damaged_image_is_not_used(family, damage, why):
    assert family.run("s-a").returncode == 0
    damage(family.store.image("s-a") / "data")
    assert family.run("s-b").returncode == 0
    assert family.attempt("s-b")["image"]["replayed"] is True
    journal = (family.store.result("s-b") / "journal.jsonl").read_text().splitlines()
    event = next(e for e in map(json.loads, journal) if e["event"] == "image unusable")
    assert event["why"] == f"the image is damaged: {why}" or not why
    assert scan(family.store.image("s-a") / "data").bytes == 6000  # a sound one took its place
    assert [p.name for p in family.store.image("s-a").parent.iterdir()] == ["s-a"]


def test_a_replay_that_fails_says_whose_step_it_was(family, stage, step):
    assert family.run("s-a").returncode == 0
    _remove(family.store.image("s-a"))
    family.plan(
        stage("s-a", step("load", "import sys; sys.exit(9)"), children=["s-b"]),
        stage("s-b", step("show", SHOW), parent="s-a"),
    )
    assert family.run("s-b").returncode == 1
    failure = family.failure("s-b")
    assert failure["message"] == "while title of s-a was run again: it ended with exit status 9"
    assert failure["step"] == "load"
    assert "/replay/s-a/steps/0-load/" in failure["log"]


READ = """
import sys
text = open(sys.argv[1] + "/MANIFEST").read()
sys.exit(0 if text == "m" * 300 else "bad text: " + text[:9])
"""
FAIL = "import sys; sys.exit('a bad option')"
CORRUPT = "import sys; sys.exit('Corruption: block checksum mismatch')"
REMOVED = (
    "; the image that it started from was removed (the image is damaged: MANIFEST is not what was saved: its checksum "
    "differs): the next attempt makes it again"
)
REPORTED = (
    "; the image that it started from was removed (the engine reports corruption): the next attempt makes it again"
)


@pytest.fixture
def loaded(checkout, stage, step):
    checkout.plan(
        stage("s-a", children=["s-b", "s-c"]),
        stage("s-b", step("read", READ), parent="s-a"),
        stage("s-c", step("read", READ), parent="s-a"),
    )
    assert checkout.run("s-a").returncode == 0
    return checkout


def _spoil(checkout):
    """As a disk does: its time says nothing."""
    path = checkout.store.image("s-a") / "data" / "MANIFEST"
    before = path.stat().st_mtime_ns
    path.write_text("x" * 300)
    os.utime(path, ns=(before, before))


def test_the_next_run_replays_instead_of_restoring_it_for_ever(loaded):
    _spoil(loaded)
    assert loaded.run("s-c").returncode == 1
    failure = loaded.failure("s-c")
    assert failure["message"] == f"it ended with exit status 1{REMOVED}"
    assert failure["tail"] == "bad text: xxxxxxxxx"
    assert not loaded.store.image("s-a").exists()
    assert [path.name for path in loaded.store.image("s-a").parent.iterdir()] == []
    assert loaded.run("s-c").returncode == 0
    assert loaded.attempt("s-c")["image"]["stages_replayed"] == ["s-a"]


@pytest.mark.parametrize(
    ("code", "settings", "message"),
    [
        (FAIL, {}, "it ended with exit status 1"),
        ("import sys; sys.exit(3)", {}, "it ended with exit status 3"),
        ("print('Corruption: none')", {"expect": "rowz"}, "stdout has no line with 'rowz'"),
        ("import time; time.sleep(60)", {"duration": 0.5}, "it did not end within 1 s, and was stopped"),
    ],
)
def test_a_sound_image_outlives_a_step_that_fails(checkout, stage, step, code, settings, message):
    """What was loaded for hours is not loaded again because a pattern was misspelt."""
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", step("read", code, **settings), parent="s-a"))
    assert checkout.run("s-a").returncode == 0
    for _ in range(2):
        assert checkout.run("s-b", STEPGRID_GRACE="0.5").returncode == 1
        assert checkout.failure("s-b")["message"] == message
        assert checkout.store.image("s-a").exists()


def test_corruption_that_the_engine_reports_was_saved_with_the_image(checkout, stage, step):
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", step("read", CORRUPT), parent="s-a"))
    assert checkout.run("s-a").returncode == 0
    assert checkout.run("s-b").returncode == 1
    assert checkout.failure("s-b")["message"] == f"it ended with exit status 1{REPORTED}"
    assert not checkout.store.image("s-a").exists()


@pytest.mark.parametrize("code", [FAIL, CORRUPT])
def test_a_sound_image_that_served_another_stage_stays_whatever_the_engine_reports(checkout, stage, step, code):
    checkout.plan(
        stage("s-a", children=["s-b", "s-bad"]),
        stage("s-b", step("read", READ), parent="s-a"),
        stage("s-bad", step("read", code), parent="s-a"),
    )
    assert [checkout.run(name).returncode for name in ("s-a", "s-b", "s-bad")] == [0, 0, 1]
    assert checkout.failure("s-bad")["message"] == "it ended with exit status 1"
    assert checkout.store.image("s-a").exists()


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("tail", ["", "Database page corruption on disk"])
def test_a_server_that_does_not_come_up_on_it(checkout, stage, step, monkeypatch, same, tail):
    monkeypatch.chdir(checkout.folder)
    options = {"page_size": Option(8192 if same else 4096)}
    checkout.plan(
        stage("s-a", step(options={"page_size": Option(8192)}), children=["s-b"]),
        stage("s-b", step("read", READ, options), parent="s-a"),
    )
    assert checkout.run("s-a").returncode == 0
    attempt = Attempt(Job.load(checkout.store, "p", "s-b"))
    with pytest.raises(StageError) as caught, distrusting(attempt, "s-a", attempt.job.stage):
        raise StageError("no such page size", starting=True, tail=tail)
    assert checkout.store.image("s-a").exists() == (not tail)
    if tail:
        assert caught.value.message == f"no such page size{REPORTED}"
    else:
        cause = (
            "the image that it started from is what was saved"
            if same
            else ("its options may be why, or the image that it started from")
        )
        evict = "`stepgrid images s-a --yes` removes that"
        assert caught.value.message == f"no such page size; {cause}{';' if same else ':'} {evict}"


CHANGED = "the image is damaged: MANIFEST is not what was saved: its checksum differs"


def _file(checkout, name="MANIFEST"):
    return checkout.store.image("s-a") / "data" / name


def _overwrite(path, text, later=0):
    """At its size; its time is as it was, or so many seconds later."""
    status = path.stat()
    path.write_text(text * (status.st_size // len(text)))
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns + later * 10**9))


def _restart(checkout):
    """As if the host had been restarted since the image was last looked at."""
    path = checkout.store.image("s-a") / paths.IMAGE_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "boot": "another"}))


def _said(checkout, stage):
    journal = (checkout.store.result(stage) / "journal.jsonl").read_text().splitlines()
    return [event["why"] for event in map(json.loads, journal) if event["event"] == "image unusable"]


def test_a_file_of_the_same_size_that_changed_is_replayed_with_a_sentence(loaded):
    _overwrite(_file(loaded), "x", later=5)
    done = loaded.run("s-b")
    assert done.returncode == 0
    assert (
        "title of s-a is run again: the image is damaged: MANIFEST is not what was saved: its checksum differs"
        in done.stderr
    )
    assert _said(loaded, "s-b") == [CHANGED]
    assert loaded.attempt("s-b")["image"]["stages_replayed"] == ["s-a"]
    assert _file(loaded).read_text() == "m" * 300  # a sound one took its place


def test_after_a_restart_of_the_host_files_are_read_whatever_their_times(loaded):
    _overwrite(_file(loaded), "x")
    assert image_damage(loaded.store, "s-a") is None
    _restart(loaded)
    assert loaded.run("s-b").returncode == 0
    assert _said(loaded, "s-b") == [CHANGED]


@pytest.mark.parametrize(("asked", "whole"), [(False, set()), (True, {"a"})])
def test_all_files_have_checksums_where_the_site_file_asks_for_them(tmp_path, monkeypatch, asked, whole):
    monkeypatch.setattr(images, "FULL_LIMIT", 400)
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "a").write_text("a" * 500)
    store = Store(tmp_path / "outputs")
    save(store, "s-a", "s-a", tmp_path / "db", SavingRules(checksums=asked))
    assert images.read_image_record(store.image("s-a")).checksums.keys() == whole
    said = (
        "files, sizes and checksums"
        if asked
        else "files, sizes and checksums (0 of 1 file in full, samples of the rest)"
    )
    assert verify(store, "s-a") == (None, said)


@pytest.mark.parametrize("at", [0, 166_700, 499_999])
def test_a_sample_has_the_ends_and_parts_between(tmp_path, at):
    path = tmp_path / "1.sst"
    path.write_bytes(b"s" * 500_000)
    before = images.sample_checksum(path)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"x")
    assert images.sample_checksum(path) != before


def test_a_checksum_leaves_the_page_cache_as_it_was(tmp_path):
    path = tmp_path / "1.sst"
    path.write_bytes(b"s" * 100_000)
    for cached in (True, False):
        if not cached:
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = residency(tmp_path)
        images.file_checksum(path)
        assert residency(tmp_path) == before
