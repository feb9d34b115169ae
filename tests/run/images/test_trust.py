"""An image that is right in size and wrong in content."""

import json
import os

import pytest

from stepgrid.host.failure import StageError
from stepgrid.model.plan import Option
from stepgrid.run.attempt import Attempt
from stepgrid.run.images.trust import distrusting
from stepgrid.run.job_context import Job

READ = """
import sys
text = open(sys.argv[1] + "/MANIFEST").read()
sys.exit(0 if text == "m" * 300 else "corruption: " + text[:9])
"""
FAIL = "import sys; sys.exit('a bad option')"


@pytest.fixture
def family(checkout, stage, step):
    checkout.plan(
        stage("s-a", children=["s-b", "s-c", "s-bad"]),
        stage("s-b", step("read", READ), parent="s-a"),
        stage("s-c", step("read", READ), parent="s-a"),
        stage("s-bad", step("read", FAIL), parent="s-a"),
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
    assert failure["message"] == (
        "it ended with exit status 1; the image that it started from was removed: the next attempt makes it again"
    )
    assert failure["tail"] == "corruption: xxxxxxxxx"
    assert not family.store.image("s-a").exists()
    assert [path.name for path in family.store.image("s-a").parent.iterdir()] == []
    assert family.run("s-c").returncode == 0
    assert family.attempt("s-c")["image"]["stages_replayed"] == ["s-a"]


def test_one_that_served_another_stage_is_read_before_its_next_use(family):
    assert family.run("s-b").returncode == 0
    _spoil(family)
    assert family.run("s-c").returncode == 1
    assert family.failure("s-c")["message"] == "it ended with exit status 1"
    assert family.run("s-c").returncode == 0
    assert family.attempt("s-c")["image"]["stages_replayed"] == ["s-a"]


def test_an_image_that_served_another_stage_and_was_not_touched_since_stays(family):
    assert family.run("s-b").returncode == 0
    assert family.run("s-bad").returncode == 1
    assert family.failure("s-bad")["message"] == "it ended with exit status 1"
    assert family.store.image("s-a").exists()


def test_a_later_step_says_nothing_about_the_image(checkout, stage, step):
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", step("read", READ), step("more", FAIL), parent="s-a"))
    assert checkout.run("s-a").returncode == 0
    assert checkout.run("s-b").returncode == 1
    assert checkout.store.image("s-a").exists()
    assert json.loads((checkout.store.image("s-a") / "image.json").read_text())["stage"] == "s-a"


@pytest.mark.parametrize("other", [False, True])
def test_a_server_that_does_not_come_up_on_it(checkout, stage, step, monkeypatch, other):
    """Its image goes, unless its options are not those with which the image was made."""
    monkeypatch.chdir(checkout.folder)
    options = {"page_size": Option(4096 if other else 8192)}
    checkout.plan(
        stage("s-a", step(options={"page_size": Option(8192)}), children=["s-b"]),
        stage("s-b", step("read", READ, options), parent="s-a"),
    )
    image = checkout.store.image("s-a")
    (image / "data").mkdir(parents=True)
    attempt = Attempt(Job.of(checkout.store, "p", "s-b"))
    with pytest.raises(StageError) as caught, distrusting(attempt, "s-a", attempt.job.stage):
        raise StageError("no such page size", starting=True)
    assert image.exists() == other
    assert caught.value.message == "no such page size; " + (
        "its options may be why, or the image that it started from: `stepgrid images --evict s-a` removes that"
        if other
        else "the image that it started from was removed: the next attempt makes it again"
    )


def test_a_server_that_could_not_even_be_asked_to_start(checkout, stage, monkeypatch):
    monkeypatch.chdir(checkout.folder)
    checkout.plan(stage("s-a", children=["s-b"]), stage("s-b", parent="s-a"))
    (checkout.store.image("s-a") / "data").mkdir(parents=True)
    attempt = Attempt(Job.of(checkout.store, "p", "s-b"))
    with pytest.raises(StageError, match="no socket"), distrusting(attempt, "s-a", attempt.job.stage):
        raise StageError("no socket")
    assert checkout.store.image("s-a").exists()
