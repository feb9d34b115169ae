"""An image is what was saved, or its stage is replayed with a sentence; its files are read where there is a reason."""

import json
import os

import pytest

from stepgrid.host.files import scan
from stepgrid.host.page_cache import residency
from stepgrid.run.images import SavingRules, save, verify
from stepgrid.store import images, paths
from stepgrid.store.images import DamagedError, image_damage, verify_image
from stepgrid.store.store import Store

READ = "import sys; print(open(sys.argv[1] + '/MANIFEST').read()[:3])"
CHANGED = "the image is damaged: MANIFEST is not what was saved: its checksum differs"


@pytest.fixture
def family(checkout, stage, step):
    """A load with two children, and its image."""
    checkout.plan(
        stage("s-a", children=["s-b", "s-c"]),
        stage("s-b", step("read", READ), parent="s-a"),
        stage("s-c", step("read", READ), parent="s-a"),
    )
    assert checkout.run("s-a").returncode == 0
    return checkout


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


def test_a_file_of_the_same_size_that_changed_is_replayed_with_a_sentence(family):
    _overwrite(_file(family), "x", later=5)
    done = family.run("s-b")
    assert done.returncode == 0
    assert (
        "title of s-a is run again: the image is damaged: MANIFEST is not what was saved: its checksum differs"
        in done.stderr
    )
    assert _said(family, "s-b") == [CHANGED]
    assert family.attempt("s-b")["image"]["stages_replayed"] == ["s-a"]
    assert _file(family).read_text() == "m" * 300  # a sound one took its place


def test_after_a_restart_of_the_host_files_are_read_whatever_their_times(family):
    _overwrite(_file(family), "x")
    assert image_damage(family.store, "s-a") is None
    _restart(family)
    assert family.run("s-b").returncode == 0
    assert _said(family, "s-b") == [CHANGED]


def test_a_file_that_was_only_touched_is_read_once_and_used(family, monkeypatch):
    os.utime(_file(family))
    assert family.run("s-b").returncode == 0
    assert _said(family, "s-b") == []
    monkeypatch.setattr(images, "file_checksum", None)  # nothing is read any more
    assert verify_image(family.store, "s-a").bytes == 6000


def test_a_sound_image_is_read_once_after_a_restart(family, monkeypatch):
    _restart(family)
    assert verify_image(family.store, "s-a").bytes == 6000
    monkeypatch.setattr(images, "file_checksum", None)
    assert verify_image(family.store, "s-a").bytes == 6000


def test_a_look_reads_only_what_changed(family, monkeypatch):
    _restart(family)
    monkeypatch.setattr(images, "file_checksum", None)
    assert image_damage(family.store, "s-a") is None
    assert image_damage(family.store, "s-b") is None  # there is none


def test_of_a_large_image_samples_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "FULL_LIMIT", 400)
    (tmp_path / "MANIFEST").write_text("m" * 300)
    (tmp_path / "1.sst").write_text("s" * 500_000)
    found = images.fingerprint(tmp_path, scan(tmp_path), in_full=False)
    assert (set(found["checksums"]), set(found["samples"])) == ({"MANIFEST"}, {"1.sst"})
    assert set(images.fingerprint(tmp_path, scan(tmp_path), in_full=True)["checksums"]) == {"MANIFEST", "1.sst"}


@pytest.mark.parametrize(("asked", "whole"), [(False, set()), (True, {"a"})])
def test_all_files_have_checksums_where_the_site_file_asks_for_them(tmp_path, monkeypatch, asked, whole):
    monkeypatch.setattr(images, "FULL_LIMIT", 400)
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "a").write_text("a" * 500)
    store = Store(tmp_path / "outputs")
    save(store, "s-a", "s-a", tmp_path / "db", SavingRules(checksums=asked))
    assert images.read_image_record(store.image("s-a"))["checksums"].keys() == whole
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


def test_a_large_file_that_changed_has_nothing_to_be_believed_by(family, monkeypatch):
    record = images.read_image_record(family.store.image("s-a"))
    path = family.store.image("s-a") / paths.IMAGE_FILE
    path.write_text(json.dumps({**record, "checksums": {}, "samples": record["checksums"]}))
    assert verify_image(family.store, "s-a").bytes == 6000
    os.utime(_file(family))
    with pytest.raises(DamagedError) as error:
        verify_image(family.store, "s-a")
    assert str(error.value) == (
        "the image is damaged: MANIFEST was written after it was saved, and only samples of it were kept"
    )


def test_an_image_of_an_earlier_version_is_held_against_its_sizes(family):
    record = images.read_image_record(family.store.image("s-a"))
    for name in ("boot", "times", "checksums", "samples"):
        del record[name]
    (family.store.image("s-a") / paths.IMAGE_FILE).write_text(json.dumps(record))
    _overwrite(_file(family), "x", later=5)
    assert verify_image(family.store, "s-a").bytes == 6000


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
