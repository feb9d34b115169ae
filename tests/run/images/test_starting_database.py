"""What a stage starts from: nothing, an image, or its ancestors run again."""

import json

import pytest

from stepgrid.host.files import scan

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


def test_no_image_without_a_child_that_needs_it(family):
    for stage in ("s-a", "s-b", "s-c", "s-d"):
        assert family.run(stage).returncode == 0
    assert not family.store.image("s-b").exists()
    assert not family.store.image("s-d").exists()
    assert family.store.image("s-c").exists()


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


def test_a_replay_starts_from_the_nearest_image(family):
    for stage in ("s-a", "s-c"):
        assert family.run(stage).returncode == 0
    _remove(family.store.image("s-c"))
    assert family.run("s-d").returncode == 0
    assert family.attempt("s-d")["image"]["stages_replayed"] == ["s-c"]
    assert _out(family, "s-d", "append") == "m" * 300 + "moremore\n"


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
    ],
)
def test_a_damaged_image_is_not_used(family, damage, why):
    assert family.run("s-a").returncode == 0
    damage(family.store.image("s-a") / "data")
    assert family.run("s-b").returncode == 0
    assert family.attempt("s-b")["image"]["replayed"] is True
    journal = (family.store.result("s-b") / "journal.jsonl").read_text().splitlines()
    event = next(e for e in map(json.loads, journal) if e["event"] == "image unusable")
    assert event["why"] == f"the image is damaged: {why}"
    assert scan(family.store.image("s-a") / "data").bytes == 6000  # a sound one took its place
    assert [p.name for p in family.store.image("s-a").parent.iterdir()] == ["s-a"]


def test_an_unreadable_list_of_an_image(family):
    assert family.run("s-a").returncode == 0
    (family.store.image("s-a") / "image.json").write_text("{")
    assert family.run("s-b").returncode == 0
    assert family.attempt("s-b")["image"]["stages_replayed"] == ["s-a"]


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
