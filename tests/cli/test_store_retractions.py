"""What was retracted after it was pushed counts no more where it was pulled, and again once that was undone."""

from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.store import plans, stage_requests
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.store import Store
from stepgrid_share import shared_folder
from tests.cli.bundles import planned
from tests.cli.test_signature import alice as alice
from tests.cli.test_signature import site
from tests.needs import needs


@pytest.fixture
def first(one, two, monkeypatch):
    """Goes back to the checkout that measured; the other one has all its results."""
    plans.publish(Store(), planned())
    assert main(["store", "push", "../shared", "--host"]) == 0
    two()
    assert main(["store", "pull", "../shared"]) == 0
    monkeypatch.chdir(one)

    def enter():
        monkeypatch.chdir(one)
        return Store()

    return enter


def result(store):
    return store.all_results(planned().stages[0].id)[0]


def counts(store):
    return store.result(planned().stages[0].id) is not None


def moved(capsys, verb, *more, status=0):
    """The line's last part."""
    capsys.readouterr()
    assert main(["store", verb, "../shared", *more]) == status
    said = capsys.readouterr()
    return (said.err if status else said.out.rpartition("; ")[2]).strip()


def test_a_retraction_and_its_undoing_travel(first, two, capsys):
    stage_requests.retract(first(), result(Store()), "a disturbance")
    assert moved(capsys, "push") == "1 retraction"
    assert moved(capsys, "push") != "1 retraction", "it is there"
    store = two()
    assert moved(capsys, "pull") == "1 retraction"
    note = stage_requests.read_retraction(result(store))
    assert note == stage_requests.read_retraction(result(first()))
    assert (note and note.why, counts(two())) == ("a disturbance", False)
    stage_requests.undo_retraction(store, result(store))
    assert moved(capsys, "pull") == "6 results known already", "it stays undone"
    assert moved(capsys, "push") == "1 retraction"
    store = first()
    assert not counts(store)
    assert moved(capsys, "pull") == "1 retraction"
    assert counts(store)
    assert moved(capsys, "push").endswith("../shared")


def test_while_a_run_is_active_it_is_left(first, two, capsys):
    stage_requests.retract(first(), result(Store()), "noise")
    assert moved(capsys, "push") == "1 retraction"
    store = two()
    with hold_run_lock(store, "a.yaml"):
        assert moved(capsys, "pull", status=3) == shared_folder.RUN_ACTIVE
    assert counts(store)
    assert moved(capsys, "pull") == "1 retraction"


def test_a_note_that_was_changed_or_cut_is_none(first, two, capsys):
    stage_requests.retract(first(), result(Store()), "noise")
    assert moved(capsys, "push") == "1 retraction"
    (note,) = Path("../shared/retractions").iterdir()
    whole = note.read_text()
    store = two()
    for text in (whole[:40], whole.replace("noise", "other"), whole.replace("s-", "../s-"), "[]", '{"format": 1}'):
        note.write_text(text)
        assert moved(capsys, "pull") == "6 results known already"
    assert counts(store)


@needs("ssh-keygen")
def test_a_site_that_names_signers_takes_what_they_signed(alice, first, two, monkeypatch, capsys):
    stage_requests.retract(first(), result(Store()), "noise")
    assert moved(capsys, "push") == "1 retraction"
    (note,) = Path("../shared/retractions").iterdir()
    store = two()
    site(alice.parent, monkeypatch)
    said = moved(capsys, "pull", status=3)
    assert said.endswith(f"{note.name} is not imported: there is no {note.name}.sig, and the site file names `signers`")
    assert counts(store)
    note.unlink()
    first()
    assert moved(capsys, "push", "--sign", str(alice)) == "1 retraction"
    store = two()
    assert moved(capsys, "pull") == "1 retraction"
    assert not counts(store)
