"""The screen of a run: lines of a log, news of a cluster, and a terminal that is shared with output of jobs."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stepgrid.host import cluster_job
from stepgrid.host.failure import StageError
from stepgrid.host.locks import ANNOUNCED
from stepgrid.model.status import ActiveWork, PlanStatus, Status
from stepgrid.store import plans
from stepgrid.store.active_run import hold_run_lock
from stepgrid.store.attempts import write_failure
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.workflow import screen
from stepgrid.workflow.screen import FORGOTTEN, LogView, RunScreen
from tests.run import finished
from tests.store.test_status import LOAD, PLAN, STAGES
from tests.waiting import until

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(screen, "PERIOD", 0.05)
    monkeypatch.setattr(screen, "CLUSTER_PERIOD", 0.05)
    monkeypatch.setattr(screen, "SHARE", 1)
    monkeypatch.chdir(tmp_path)
    made = Store()
    plans.publish(made, PLAN)
    return made


@pytest.fixture
def on_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cluster_job.ON, cluster_job.CLUSTER)


# A log


def with_done(status: PlanStatus, count: int, waits: str = "") -> PlanStatus:
    """So many stages are done, and the next one waits or has begun."""
    nodes = {}
    for number, (name, node) in enumerate(status.nodes.items()):
        word = Status.DONE if number <= count or node.is_build else Status.MISSING
        work = ActiveWork((7,), waits=waits, since=status.now, doing="starts") if number == count + 1 else None
        nodes[name] = replace(node, status=word, work=work)
    return replace(status, nodes=nodes)


def test_a_log_has_a_line_for_each_tenth_and_one_now_and_then(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "LEAST_PAUSE", 0.0)
    lines = list[str]()
    view = LogView(lines.append, None)
    status = StatusReader(store, PLAN).read()
    for count in range(len(PLAN.stages) + 1):
        view.show(with_done(status, count))
        view.show(with_done(status, count))
    shares = [int(re.match(r"\[(\d+)/15 done\]", line)[1]) for line in lines]  # type: ignore[index]
    assert shares == [0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15]
    monkeypatch.setattr(screen, "LEAST_PAUSE", 60.0)
    view.show(with_done(status, 0))
    assert len(lines) == len(shares), "not so soon after another"
    monkeypatch.setattr(screen, "PAUSE", 0.0)
    view.show(with_done(status, 15))
    assert len(lines) == len(shares) + 1


def test_a_log_names_whom_it_waits_for_once(store: Store) -> None:
    lines = list[str]()
    view = LogView(lines.append, None)
    status = with_done(StatusReader(store, PLAN).read(), 0, "the host: process 9, which measures s-1 in /elsewhere")
    for _ in range(3):
        view.show(status)
    first, second = lines
    assert first == "waiting for the host: process 9, which measures s-1 in /elsewhere: load"
    assert second.startswith("[0/15 done] waiting for another run; then "), "below a second there is no time to tell"


def test_a_disturbed_stage_is_told_once_and_then_counted(store: Store) -> None:
    lines = list[str]()
    view = LogView(lines.append, None)
    with hold_run_lock(store, PLAN.spec, plan=PLAN.digest):
        for number, stage in enumerate((LOAD, *STAGES[:2])):
            result = finished.result(store, stage)
            (result / "attempt.json").write_text(f'{{"noise": {{"warning": "cpu {number}"}}}}')
        status = StatusReader(store, PLAN).read()
        began = replace(status.run, started=0.0) if status.run else None
        for _ in range(2):
            view.show(replace(status, run=began))
    assert lines[0] == "the host is not quiet, later stages are only counted: load: cpu 0"
    assert re.match(r"\[3/1\d done\] .*3 disturbed, ETA ", lines[1])


# A cluster, whose jobs write into logs of their own


def test_what_failed_on_a_cluster_and_why(store: Store, on_cluster: None, capsys: Capture) -> None:
    run = RunScreen(store, PLAN)
    run.start()
    until(lambda: "[0/15 done]" in capsys.readouterr().err)
    finished.make_build(store, PLAN.builds[0].id)
    finished.result(store, LOAD)
    attempt = store.new_attempt(STAGES[0].id)
    failure = StageError("db_bench exited with status 1", "read", attempt / "stderr", "out of memory")
    write_failure(attempt, STAGES[0].id, failure, "failed")
    run.stop()
    *news, last = capsys.readouterr().err.splitlines()
    assert news == [
        f"done: build {PLAN.builds[0].name}",
        *("failed: read 0", "  read: db_bench exited with status 1", "  | out of memory"),
        f"  log: {attempt.relative_to(Path.cwd()) if attempt.is_absolute() else attempt}/stderr",
    ]
    assert last.startswith("[1/15 done] 1 failed, ETA ")


def test_jobs_of_this_machine_print_their_failures_themselves(store: Store, capsys: Capture) -> None:
    run = RunScreen(store, PLAN)
    run.start()
    assert ANNOUNCED in os.environ
    write_failure(store.new_attempt(STAGES[0].id), STAGES[0].id, StageError("wrong"), "failed")
    run.stop()
    assert ANNOUNCED not in os.environ
    assert "wrong" not in capsys.readouterr().err
    run.stop()


def test_jobs_that_a_controller_forgot_are_waited_for_and_named_once(
    store: Store, on_cluster: None, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(screen, "FORGOTTEN_SECONDS", 0.1)
    finished.make_build(store, "b-1")
    for stage in PLAN.stages:
        finished.result(store, stage)
    run = RunScreen(store, PLAN)
    run.start()
    output = list[str]()
    until(lambda: FORGOTTEN in (output.append(capsys.readouterr().err) or "".join(output)))  # type: ignore[func-returns-value]
    run.stop()
    assert ("".join(output) + capsys.readouterr().err).count(FORGOTTEN) == 1


# A terminal, which jobs share: their output stands above the frame

RUN = """
import subprocess, sys, time
from stepgrid.host.terminal_output import screened
from stepgrid.store.store import Store
from stepgrid.workflow.screen import RunScreen
from tests.store.test_status import PLAN
with screened():
    screen = RunScreen(Store(), PLAN)
    screen.start()
    time.sleep(0.5)
    subprocess.run("echo failed: a job >&2; echo '  its reason' >&2; printf 'no end of line'", shell=True)
    time.sleep(0.5)
    print("from the run itself")
    screen.stop()
    print("after it")
"""


def at_terminal(code: str, **variables: str) -> str:
    """Run code at a terminal of its own; return all that it has written."""
    ours, theirs = pty.openpty()
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "PYTHONPATH": f"{root / 'compiler'}:{root}", "TERM": "xterm", **variables}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        output = b""
        while piece := _read(ours):
            output += piece
    assert child.returncode == 0, output.decode()
    os.close(ours)
    return output.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody has it open any more
        return b""


@pytest.mark.parametrize(("variables", "red"), [({}, "\x1b[31m{}\x1b[0m"), ({"NO_COLOR": "1"}, "{}")])
def test_output_of_jobs_scrolls_above_the_frame(store: Store, variables: dict[str, str], red: str) -> None:
    output = at_terminal(RUN, **variables)
    pieces = output.replace("\x1b[K", "").replace("\r", "").split("\n")
    shown = [piece for piece in pieces if "done" not in piece]
    for line in (red.format("failed: a job"), red.format("  its reason"), "no end of line", "from the run itself"):
        assert sum(piece.endswith(line) for piece in shown) == 1, line
    last_frame = output.rindex("  stages ")
    cleared = re.search(r"\r\x1b\[\d+A\x1b\[J", output[last_frame:])
    assert cleared
    assert output[last_frame + cleared.end() :] == "after it\r\n"


def test_a_view_that_fails_keeps_no_job_waiting(store: Store) -> None:
    broken = "from stepgrid.workflow import screen\nscreen.PERIOD = 0.1\nscreen.TerminalView.show = lambda *_: 1 / 0\n"
    output = at_terminal(broken + RUN)
    assert output.count("the progress of this run cannot be shown: ZeroDivisionError") == 1
    assert "failed: a job" in output


@pytest.mark.parametrize("width", [60, 79, 99])
def test_a_frame_fits(store: Store, width: int) -> None:
    status = StatusReader(store, PLAN).read()
    lines = screen.Frame().lines(
        with_done(status, 3, "the host: process 9, which measures s-1 in /elsewhere"), width, 24
    )
    assert max(map(len, lines)) <= width
    assert lines[1].endswith(" 20 %")
    assert any(re.fullmatch(r"waiting: read \d", line) for line in lines)
