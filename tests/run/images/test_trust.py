"""An image that is right in size and wrong in content."""

import json
import os

import pytest

from stepgrid.host.failure import StageError
from stepgrid.model.plan import Option
from stepgrid.run.attempt import Attempt, Job
from stepgrid.run.images import distrusting

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
def family(checkout, stage, step):
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


def test_the_next_run_replays_instead_of_restoring_it_for_ever(family):
    _spoil(family)
    assert family.run("s-c").returncode == 1
    failure = family.failure("s-c")
    assert failure["message"] == f"it ended with exit status 1{REMOVED}"
    assert failure["tail"] == "bad text: xxxxxxxxx"
    assert not family.store.image("s-a").exists()
    assert [path.name for path in family.store.image("s-a").parent.iterdir()] == []
    assert family.run("s-c").returncode == 0
    assert family.attempt("s-c")["image"]["stages_replayed"] == ["s-a"]


def test_one_that_served_another_stage_is_read_too(family):
    assert family.run("s-b").returncode == 0
    _spoil(family)
    assert family.run("s-c").returncode == 1
    assert family.failure("s-c")["message"] == f"it ended with exit status 1{REMOVED}"
    assert family.run("s-c").returncode == 0
    assert family.attempt("s-c")["image"]["stages_replayed"] == ["s-a"]


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


def test_a_later_step_says_nothing_about_the_image(checkout, stage, step):
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", step("read", READ), step("more", FAIL), parent="s-a"))
    assert checkout.run("s-a").returncode == 0
    assert checkout.run("s-b").returncode == 1
    assert checkout.store.image("s-a").exists()
    assert json.loads((checkout.store.image("s-a") / "image.json").read_text())["stage"] == "s-a"


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
        evict = "`stepgrid images --evict s-a` removes that"
        assert caught.value.message == f"no such page size; {cause}{';' if same else ':'} {evict}"


def test_a_server_that_could_not_even_be_asked_to_start(checkout, stage, monkeypatch):
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", parent="s-a"))
    (checkout.store.image("s-a") / "data").mkdir(parents=True)
    attempt = Attempt(Job.load(checkout.store, "p", "s-b"))
    with pytest.raises(StageError, match="no socket"), distrusting(attempt, "s-a", attempt.job.stage):
        raise StageError("no socket")
    assert checkout.store.image("s-a").exists()
