"""Measured again beside what there is; loaded more often; taken out."""

from stepgrid.host.files import write_json
from stepgrid.model.status import ActiveWork, NodeStatus, Result, Status
from stepgrid.store import stage_requests
from stepgrid_inspect.results import past_attempts


def result(store, **more):
    attempt = store.new_attempt("s-1")
    times = {"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:01:30+00:00"}
    write_json(attempt / "attempt.json", {"host": {"hostname": "bench-7"}, "started": times["started"]})
    write_json(attempt / "result.json", {"stage": "s-1", "status": "done", "seconds": 90.0, **times, **more})
    return store.publish_result("s-1", attempt)


def test_it_is_done_when_there_is_a_result_that_was_not_there(store):
    assert stage_requests.pending_redos(store) == {}
    result(store)
    made = stage_requests.request_redo(store, "s-1", "a noisy neighbour")
    assert stage_requests.pending_redo(store, "s-1") == made
    assert not stage_requests.is_measured(store, "s-1")
    assert stage_requests.pending_redos(store, ["s-1", "s-2"]) == {"s-1": made}
    assert stage_requests.pending_redos(store, ["s-2"]) == {}
    assert (
        made.sentence
        == f"asked for by {stage_requests.user_name()}, {made.when[:16].replace('T', ' ')} UTC: a noisy neighbour"
    )
    new = result(store)
    assert stage_requests.pending_redo(store, "s-1") is None
    assert stage_requests.is_measured(store, "s-1")
    stage_requests.retract(store, new, "worse")
    assert stage_requests.pending_redo(store, "s-1") is None  # it was made: nobody asks for it once more
    store.set_aside("s-1", new)
    assert stage_requests.pending_redo(store, "s-1") == made  # it was broken


def test_a_clock_that_was_set_back_makes_no_difference(store):
    old = result(store)
    future = old.rename(old.with_name("29990101T000000.000000Z"))
    stage_requests.request_redo(store, "s-1", "")
    new = result(store)
    assert stage_requests.pending_redo(store, "s-1") is None
    assert (store.result("s-1"), future.name < new.name) == (new, True)


def test_one_that_comes_from_elsewhere_is_not_the_one_that_was_asked_for(store):
    result(store)
    stage_requests.request_redo(store, "s-1", "")
    stage_requests.note_import(store, "s-1", result(store).name)
    assert stage_requests.pending_redo(store, "s-1")
    stage_requests.withdraw_redo(store, "s-1")
    assert stage_requests.pending_redo(store, "s-1") is None


def test_a_retracted_result_counts_no_more_and_then_again(store):
    old, new = result(store), result(store)
    stage_requests.retract(store, new, "a noisy neighbour")
    assert (store.result("s-1"), store.results("s-1"), store.all_results("s-1")) == (old, [old], [old, new])
    assert not store.mark("s-1").is_symlink()
    found = stage_requests.read_retraction(new)
    assert (found.why, found.author) == ("a noisy neighbour", stage_requests.user_name())
    stage_requests.undo_retraction(store, new)
    assert store.result("s-1") == new
    assert stage_requests.read_retraction(new) is None


def test_a_note_that_cannot_be_read_takes_it_out_all_the_same(store):
    new = result(store)
    (new / "retracted.json").write_text("{")
    assert store.result("s-1") is None
    assert stage_requests.read_retraction(new).why == "its note cannot be read"


def test_all_that_was_tried(store):
    old = result(store)
    failed = store.new_attempt("s-1")
    write_json(failed / "failure.json", {"status": "failed", "step": "load", "message": "it ended with exit status 1"})
    new, last = result(store), result(store)
    stage_requests.retract(store, last, "why not")
    running, killed = store.new_attempt("s-1"), store.new_attempt("s-1")
    node = NodeStatus("s-1", "t", Status.DONE, result=Result(new), work=ActiveWork((1,), running))
    found = past_attempts(store, node)
    assert [(each.folder, each.standing) for each in found] == [
        (old, "older"),
        (failed, "failed"),
        (new, "counts"),
        (last, "retracted"),
        (running, "running"),
        (killed, "interrupted"),
    ]
    assert (found[0].seconds, found[0].host, found[0].status) == (90.0, "bench-7", "done")
    assert found[1].message == "load: it ended with exit status 1"
    assert found[3].message.endswith(" UTC: why not")


def test_the_most_that_was_asked_for_counts(store):
    stage_requests.request_loads(store, "s-1", 5, "a: undecided after 4 loads")
    stage_requests.request_loads(store, "s-1", 4, "b: undecided after 3 loads")
    assert stage_requests.requested_loads(store, "s-1") == 5
    assert stage_requests.load_request_reason(store, "s-1") == "a: undecided after 4 loads"
