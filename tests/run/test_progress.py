"""Progress of a plan, live figures of a step, and the time when a run is to stop."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import PIPE

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.host.files import Tree, write_json
from stepgrid.host.locks import locked
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage, PlannedStep, Report
from stepgrid.model.status import Eta
from stepgrid.model.units import duration
from stepgrid.run import progress
from stepgrid.run.status_lines import head
from stepgrid.store import plans
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.status import job_status
from stepgrid.store.store import Store
from tests.waiting import until

BEGAN = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def at(store: Store) -> str:
    return head(job_status(store, "d1"))


def stage(name: str, parent: str | None = None, seconds: float = 10.0, rank: int = 0) -> PlannedStage:
    step = PlannedStep("readww", "db_bench", 1, {"duration": 30.0}, {}, 1)
    title = f"rocksdb-7.8.3 cache={name}, load 1: readww, overwrite"
    return PlannedStage(f"s-{name}", title, "b-1", parent, (), 0, 0, "h", (step,), seconds, rank)


LOAD = stage("load", seconds=100.0)
PARTS = [stage(name, "s-load", rank=rank) for rank, name in enumerate("abcd", 1)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "outputs")
    plan = Plan(
        "d1", "t", "spec.yaml", None, (), (), (PlannedBuild("b-1", "b", "e", "1", {}),), (LOAD, *PARTS), {}, Report()
    )
    store.plan("d1").parent.mkdir(parents=True)
    plans.write(plan, store.plan("d1"))
    return store


def finish(store: Store, planned: PlannedStage, seconds: float, status: str = "done") -> None:
    attempt = store.new_attempt(planned.id)
    times = {"started": BEGAN.isoformat(), "ended": (BEGAN + timedelta(seconds=seconds)).isoformat()}
    write_json(attempt / "result.json", {"status": status, **times})
    store.publish_result(planned.id, attempt)
    store.image(planned.id).mkdir(parents=True)
    write_json(store.image(planned.id) / "image.json", Tree((), {}, {}).to_json())


def fail(store: Store, node: str) -> None:
    (store.new_attempt(node) / "failure.json").write_text("{}")


@contextlib.contextmanager
def running(store: Store, *nodes: str) -> Iterator[None]:
    """As their jobs do."""
    with contextlib.ExitStack() as held:
        for node in nodes:
            store.new_attempt(node)
            held.enter_context(locked(store.lock(node)))
        yield


@contextlib.contextmanager
def a_run(store: Store, began: timedelta = timedelta(minutes=-1)) -> Iterator[None]:
    with hold_run_lock(store, "spec.yaml", plan="d1"):
        record = json.loads(store.lock("run").read_text())
        store.lock("run").write_text(json.dumps({**record, "started": (datetime.now(UTC) + began).isoformat()}))
        yield


def test_before_anything_the_declared_seconds_are_all_there_is(store: Store) -> None:
    assert at(store) == "[0/5 done] missing 5, ETA ~2m20s"


def test_the_stage_that_runs_is_not_missing_but_its_time_is_ahead(store: Store) -> None:
    with running(store, "s-load"):
        assert at(store) == "[0/5 done] running 1, missing 4, ETA ~2m20s"


def test_what_is_ahead_is_scaled_by_what_was_measured_of_its_kind(store: Store) -> None:
    finish(store, LOAD, 5.0)  # far shorter than declared: says nothing about the stages after it
    assert at(store) == "[1/5 done] missing 4, ETA ~40s"
    finish(store, PARTS[0], 15.0)
    assert at(store) == "[2/5 done] missing 3, ETA 45s"
    finish(store, PARTS[1], 25.0)
    assert at(store) == "[3/5 done] missing 2, ETA 40s"


def test_unsupported_stages_say_nothing_about_time(store: Store) -> None:
    finish(store, LOAD, 100.0)
    finish(store, PARTS[0], 0.001, "unsupported")
    assert at(store) == "[1/5 done] unsupported 1, missing 3, ETA ~30s"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"status": "done"}', '{"status": "done", "started": 1, "ended": 2}'])
def test_a_result_that_cannot_be_read_counts_and_says_nothing_about_time(store: Store, text: str) -> None:
    finish(store, LOAD, 100.0)
    (store.results("s-load")[0] / "result.json").write_text(text)
    assert at(store) == "[1/5 done] missing 4, ETA ~40s"


def test_when_all_is_done(store: Store) -> None:
    for planned in (LOAD, *PARTS):
        finish(store, planned, 1.0)
    assert at(store) == "[5/5 done] ETA 0s"


def test_an_estimate_that_the_plan_lacks_is_unknown_until_it_was_measured(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.plan("d2").parent.mkdir(parents=True)
    stages = (replace(LOAD, seconds=0.0), replace(LOAD, id="s-again", seconds=0.0), PARTS[0])
    plans.write(Plan("d2", "t", "s", None, (), (), (), stages, {}, Report()), store.plan("d2"))
    assert head(job_status(store, "d2")) == "[0/3 done] missing 3, ETA ?"
    finish(store, LOAD, 7.0)
    assert head(job_status(store, "d2")) == "[1/3 done] missing 2, ETA ~17s"


def test_failures_of_this_run_have_failed(store: Store) -> None:
    with a_run(store):
        finish(store, LOAD, 100.0)
        fail(store, "s-b")
        with running(store, "s-a"):
            assert at(store) == "[1/5 done] running 1, failed 1, missing 2, ETA ~30s"


def test_a_failed_load_blocks_its_stages_and_a_failed_build_everything(store: Store) -> None:
    with a_run(store):
        fail(store, "s-load")
        assert at(store) == "[0/5 done] failed 1, blocked 4, ETA 0s"
        finish(store, LOAD, 1.0)
        assert at(store) == "[1/5 done] missing 4, ETA ~40s"
        fail(store, "b-1")
        assert at(store) == "[1/5 done] blocked 4, ETA 0s"


@pytest.mark.parametrize("status", ["interrupted", "broken"])
def test_what_was_interrupted_or_broke_has_not_failed(store: Store, status: str) -> None:
    (store.new_attempt("s-load") / "failure.json").write_text(json.dumps({"status": status}))
    assert at(store) == "[0/5 done] interrupted 1, missing 4, ETA ~2m20s"


def test_what_another_machine_measures_is_not_missing(store: Store, tmp_path: Path) -> None:
    big = {"id": "big", "declared": True, "cores": 4096}
    stages = (LOAD, replace(LOAD, id="s-big", hardware="big"), replace(PARTS[0], id="s-big-a", hardware="big"))
    plan = Plan("d3", "t", "s", None, (), (), (), stages, {}, Report(), machines={"big": big, "h": {"id": "h"}})
    plans.write(plan, store.plan("d3"))
    assert head(job_status(store, "d3")) == "[0/1 done] missing 1, elsewhere 2, ETA ~1m40s"
    finish(store, stages[1], 50.0)  # brought from there
    assert head(job_status(store, "d3")) == "[1/2 done] missing 1, elsewhere 1, ETA 50s"


def test_failures_of_earlier_runs_are_tried_again(store: Store) -> None:
    fail(store, "s-load")
    with a_run(store, timedelta(minutes=1)):
        assert at(store) == "[0/5 done] missing 5, ETA ~2m20s"


def test_the_eta_shrinks_and_is_unknown_once_the_time_is_over(store: Store) -> None:
    found = replace(job_status(store, "d1"), eta=Eta(60.0))
    assert [head(found, elapsed).split("ETA ")[1] for elapsed in (0, 20, 59, 60, 500)] == [
        "1m00s", "40s", "1s", "?", "?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (-3, "0s"), (59.4, "59s"), (59.6, "1m00s"), (190, "3m10s"), (7500, "2h05m"), (273600, "3d04h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(st.floats(0, 1e8))
def test_a_duration_is_right_to_its_smallest_unit(seconds: float) -> None:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    parts = [(int(number), units[unit]) for number, unit in re.findall(r"(\d+)([smhd])", duration(seconds))]
    assert 0 <= seconds + 0.5 - sum(number * unit for number, unit in parts) <= parts[-1][1] + 1e-6


def test_in_a_log_a_line_when_a_stage_starts_and_when_it_ends(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finish(store, LOAD, 100.0)
    progress.show_start(store, "d1", PARTS[0])
    with progress.show_step(PARTS[0], 0, tmp_path):
        pass
    finish(store, PARTS[0], 10.0)
    progress.show_end(store, "d1", PARTS[0], "done")
    title = "rocksdb-7.8.3 cache=a, load 1: readww, overwrite"
    assert capsys.readouterr().err.splitlines() == [
        f"[1/5 done] running 1, missing 3, ETA ~40s | {title}",
        f"[2/5 done] missing 3, ETA 30s | {title}: done in 10s",
    ]


HOLD = """
from stepgrid.host.locks import host_lock
with host_lock(shared=False):
    print(flush=True)
    input()
"""


def test_after_a_wait_the_line_is_of_what_runs(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPGRID_HOST_LOCK", str(tmp_path / "host.lock"))
    monkeypatch.setitem(progress.INTERVAL, False, 0.05)
    finish(store, LOAD, 100.0)
    with running(store, "s-a"), subprocess.Popen([sys.executable, "-c", HOLD], stdin=PIPE, stdout=PIPE) as other:
        assert other.stdout
        assert other.stdout.readline()
        progress.show_start(store, "d1", PARTS[0])
        assert capsys.readouterr().err.startswith("[1/5 done] waiting 1, missing 3, ETA ~40s | ")
        other.communicate(b"\n")
        assert progress._current is not None
        progress._current.read_at -= 3600  # an hour of waiting
        (store.attempts("s-a")[-1] / "journal.jsonl").write_text('{"t": 1.0, "event": "begun"}\n')
        progress.refresh()
        with progress.show_step(PARTS[0], 0, tmp_path):
            line = until(lambda: capsys.readouterr().err)
    progress.show_end(store, "d1", PARTS[0], "failed")
    assert re.fullmatch(r"\[1/5 done\] running 1, missing 3, ETA ~[34]\ds \| .*: readww \d/30 s", line.splitlines()[0])


def test_a_stage_that_we_have_just_ended_runs_no_more(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Its job still holds its lock when it says so."""
    with locked(store.lock("s-load")):
        fail(store, "s-load")
        progress.show_end(store, "d1", LOAD, "failed")
    assert capsys.readouterr().err == f"[0/5 done] failed 1, blocked 4, ETA ~2m20s | {LOAD.title}: failed\n"


def test_in_a_log_a_line_now_and_then(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(progress.INTERVAL, False, 0.05)
    (tmp_path / "report.csv").write_text("secs_elapsed,interval_qps\n1,54321\n")
    progress.show_start(store, "d1", PARTS[0])
    said = io.StringIO()

    def of_the_step() -> bool:
        said.write(capsys.readouterr().err)
        return "ops/s" in said.getvalue()

    with progress.show_step(PARTS[0], 0, tmp_path):
        until(of_the_step)
    progress.show_end(store, "d1", PARTS[0], "failed")
    _, *lines, last = (said.getvalue() + capsys.readouterr().err).splitlines()
    head = "[0/5 done] running 1, missing 4, ETA ~2m20s"
    assert {re.sub(r"readww \d", "readww N", line) for line in lines} == {
        f"{head} | rocksdb-7.8.3 cache=a, load 1: readww N/30 s, 54k ops/s"
    }
    assert last == "[0/5 done] missing 5, ETA ~2m20s | rocksdb-7.8.3 cache=a, load 1: readww, overwrite: failed"


def test_at_a_terminal_one_line_is_rewritten(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    os.set_blocking(ours, False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", os.fdopen(theirs, "w"))
    monkeypatch.setitem(progress.INTERVAL, True, 0.05)
    monkeypatch.setattr(progress, "_width", lambda: 60)
    progress.show_start(store, "d1", PARTS[0])
    pieces: list[str] = []

    def often() -> bool:
        pieces.append(_all_of(ours))
        return "".join(pieces).count("\r") >= 3

    with progress.show_step(PARTS[0], 0, tmp_path):
        until(often)
    progress.show_end(store, "d1", PARTS[0], "done")
    written = "".join(pieces) + _all_of(ours)
    status, cleared, last = written.rpartition("\r\x1b[K\r\x1b[K")
    assert cleared
    assert "\n" not in status
    assert set(status.removesuffix("\x1b[K").split("\x1b[K\r")) <= {
        "[0/5 done] running 1, missing 4, ETA ~2m20s | rocksdb-7.8.3",
        "\r[0/5 done] running 1, missing 4, ETA ~2m20s | rocksdb-7.8.3",
    }
    assert last == (
        "[0/5 done] missing 5, ETA ~2m20s | rocksdb-7.8.3 cache=a,\r\n  load 1: readww, overwrite: done\r\n"
    )


def _all_of(terminal: int) -> str:
    written = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(terminal, 65536):
            written += piece
    return written.decode()


def test_a_terminal_that_went_away_costs_no_measurement(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w")
    monkeypatch.setattr(sys, "stderr", stream)
    progress.show_start(store, "d1", PARTS[0])
    with progress.show_step(PARTS[0], 0, tmp_path):
        pass
    progress.show_end(store, "d1", PARTS[0], "done")
    monkeypatch.undo()
    with pytest.raises(BrokenPipeError):  # it really was broken: closing flushes what could not be written
        stream.close()


NOON = datetime(2026, 3, 1, 12, 0, 0).timestamp()


@pytest.fixture(autouse=True)
def no_deadline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv(progress.VARIABLE, "")
        yield


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6h", 6 * 3600),
        (" 90m ", 5400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("45s", 45),
        ("1d", 86400),
        ("12:30", 1800),
        ("11:59", 86340),  # tomorrow
        ("12:00", 86400),
        ("7:05", 68700),
    ],
)
def test_a_duration_or_the_next_such_time_of_day(text: str, seconds: float) -> None:
    found = progress.parse_end_time(text, NOON)
    assert found == progress.RunEndTime(NOON + seconds, text.strip())


@pytest.mark.parametrize("text", ["", "6", "0h", "-1h", "run", "24:00", "12:60", "1h 30", "6 parsecs", "h", "12:30:00"])
def test_anything_else_is_neither(text: str) -> None:
    assert progress.parse_end_time(text, NOON) is None


def test_the_first_time_counts() -> None:
    progress.set_end_time("6h")
    first = progress.end_time()
    progress.set_end_time("6h")
    assert progress.end_time() == first
    progress.set_end_time("5h")
    second = progress.end_time()
    assert first is not None
    assert second is not None
    assert first.at - second.at == pytest.approx(3600, abs=5)
    progress.set_end_time(None)
    assert progress.end_time() is None


def test_what_was_expected() -> None:
    expected = "until=3600: expected a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30"
    with pytest.raises(ValueError, match=re.escape(expected)):
        progress.set_end_time(3600)
