"""What has a result and is measured again beside it: asked for, or by `compare_within`; and what was retracted."""

from datetime import UTC, datetime, timedelta

import pytest

from stepgrid.store import stage_requests
from stepgrid.store.paths import TIME_FORMAT
from stepgrid.store.store import Store
from tests.waiting import LONG

pytestmark = pytest.mark.integration
SUMMARY = ["collect", "summarize"]
WITHIN = {"within": 7 * 86400.0}


def store_of(checkout):
    return Store(checkout.folder / "outputs")


def ask(checkout, *stages):
    store = store_of(checkout)
    for stage in stages:
        stage_requests.request_redo(store, stage, "a disturbance")
    return store


def age(checkout, days):
    """All results, as if the whole had been measured so long ago."""
    for stage in (checkout.folder / "outputs/results").iterdir():
        for result in stage.iterdir():
            then = datetime.strptime(result.name, TIME_FORMAT).replace(tzinfo=UTC) - timedelta(days=days)
            result.rename(result.with_name(then.strftime(TIME_FORMAT)))


def test_exactly_what_is_asked_for_is_measured_beside_the_old_result(finished):
    before = finished.results()
    store = ask(finished, "s-p-0-a", "s-q-1-b")
    ended = finished.stepgrid_run("spec.json")
    assert ended.returncode == 0, ended.stderr
    assert "\n2 stages again, beside the old result: asked for by " in f"\n{ended.stderr}"
    assert sorted(finished.logged("measure")) == ["s-p-0-a", "s-q-1-b"]
    assert finished.log[-2:] == SUMMARY
    _, new = store.results("s-p-0-a")
    assert store.result("s-p-0-a") == new
    assert store.mark("s-p-0-a").resolve() == (new / "result.json").resolve()
    assert before.items() <= finished.results().items()
    assert stage_requests.pending_redos(store) == {}
    finished.forget_log()
    assert "nothing to do: 4 cells, 12 stages measured" in finished.stepgrid_run("spec.json").stdout
    assert finished.log == []


def test_a_redo_that_fails_leaves_the_old_result_and_stays_asked_for(finished):
    store = ask(finished, "s-p-0-a")
    old = store.result("s-p-0-a")
    (finished.folder / "fail-s-p-0-a").touch()
    assert finished.snakemake().returncode == 1
    assert store.result("s-p-0-a") == old
    assert [*stage_requests.pending_redos(store)] == ["s-p-0-a"]
    (finished.folder / "fail-s-p-0-a").unlink()
    finished.forget_log()
    assert finished.snakemake().returncode == 0
    assert finished.log == ["measure s-p-0-a", *SUMMARY]
    assert len(store.results("s-p-0-a")) == 2


def test_a_redo_that_is_killed_loses_nothing(finished):
    store = ask(finished, "s-p-0-a")
    (finished.folder / "kill-s-p-0-a").touch()
    assert finished.snakemake().returncode == 1
    (finished.folder / "kill-s-p-0-a").unlink()
    finished.forget_log()
    assert finished.snakemake().returncode == 0
    assert finished.log == ["measure s-p-0-a", *SUMMARY]
    store.mark("s-p-0-a").unlink()  # killed after the publication, before the mark
    finished.forget_log()
    assert finished.snakemake().returncode == 0
    assert finished.logged("measure") == []


def test_a_load_is_measured_before_what_starts_from_it(finished):
    ask(finished, "s-p-0-b", "s-p-0", "s-p-0-a")
    assert finished.snakemake().returncode == 0
    measured = finished.logged("measure")
    assert (measured[0], sorted(measured)) == ("s-p-0", ["s-p-0", "s-p-0-a", "s-p-0-b"])


def test_a_dry_run_shows_it_and_measures_nothing(finished):
    store = ask(finished, "s-p-0-a")
    ended = finished.snakemake("-n")
    assert "measure p arm=a, load 1: read" in ended.stdout
    assert finished.log == []
    assert finished.snakemake().returncode == 0
    assert len(store.results("s-p-0-a")) == 2


def test_what_is_asked_for_while_a_run_goes_on_is_measured_by_the_next(checkout, until):
    checkout.write_spec(seconds=0.4, loads=1)
    process = checkout.start(checkout.argv())
    until(lambda: len(checkout.logged("measure")) > 2)
    first = checkout.logged("measure")[0]
    until(lambda: store_of(checkout).result(first) is not None)
    ask(checkout, first)
    assert checkout.snakemake("-n").returncode == 0  # must not take the mark that the run's jobs wait for
    assert process.wait(LONG) == 0, checkout.screen
    assert len(store_of(checkout).results(first)) == 1
    checkout.forget_log()
    assert checkout.snakemake().returncode == 0
    assert checkout.log == [f"measure {first}", *SUMMARY]


def test_an_old_base_is_measured_again_beside_what_is_compared_with_it(finished):
    age(finished, 10)
    finished.write_spec(**WITHIN)
    assert finished.snakemake().returncode == 0  # nothing is about to be measured: nothing is compared anew
    assert finished.logged("measure") == []
    finished.write_spec(**WITHIN, arms=["a", "b", "c"])
    assert finished.snakemake("-n").returncode == 0
    assert stage_requests.pending_redos(store_of(finished)) == {}  # to look is not to ask
    assert finished.snakemake().returncode == 0
    bases = [f"s-{build}-{load}-a" for build in "pq" for load in (0, 1)]
    new = [f"s-{build}-{load}-c" for build in "pq" for load in (0, 1)]
    assert sorted(finished.logged("measure")) == sorted([*bases, *new])
    finished.forget_log()
    assert finished.snakemake().returncode == 0
    assert finished.log == []


def test_a_base_is_measured_once_however_often_the_rest_fails(finished):
    age(finished, 10)
    finished.write_spec(**WITHIN, arms=["a", "c"], builds=["p"], loads=1)
    (finished.folder / "fail-s-p-0-c").touch()
    for _ in range(2):
        assert finished.snakemake().returncode == 1
    assert sorted(finished.logged("measure")) == ["s-p-0-a", "s-p-0-c", "s-p-0-c"]


def test_after_a_retraction_the_one_before_counts_or_it_is_measured(finished):
    store = ask(finished, "s-p-0-a")
    assert finished.snakemake().returncode == 0
    old, new = store.results("s-p-0-a")
    stage_requests.retract(store, new, "a noisy neighbour")
    finished.forget_log()
    assert finished.snakemake().returncode == 0
    assert (finished.log, store.result("s-p-0-a")) == (SUMMARY, old)
    stage_requests.retract(store, old, "and so was this")
    finished.forget_log()
    assert finished.stepgrid_run("spec.json").returncode == 0
    assert finished.log == ["measure s-p-0-a", *SUMMARY]
    stage_requests.retract(store, store.results("s-p-0-a")[0], "third")
    stage_requests.undo_retraction(store, new)
    finished.forget_log()
    assert finished.stepgrid_run("spec.json").returncode == 0
    assert (finished.log, store.result("s-p-0-a")) == (SUMMARY, new)
    assert len(store.all_results("s-p-0-a")) == 3
