"""Steps that run beside another one, by real processes: their times, what fails, and that nothing outlives the job."""

import os
import shutil
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path
from threading import Event

import pytest

from stepgrid.host.failure import StageError
from stepgrid.host.processes.timetable import Entry, Timetable
from stepgrid.model.records import StepSetup, Timing, replace
from tests.run.conftest import make_stage, make_step

SLEEP = "import time\ntime.sleep(%s)"
ENDLESS = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)"


def beside(name, code, **request):
    number = request.pop("number", 1)
    return replace(make_step(f"main/{name}", code), setup=StepSetup(timing=Timing(number=number, **request)))


def run(checkout, *others, main=SLEEP % 1.5):
    checkout.plan(make_stage("s-load", make_step("main", main), *others))
    return checkout.run("s-load")


def times(record, start):
    """Start and end of each round, in seconds since the main step began."""
    rounds = record.get("rounds") or [[record["started"], record["ended"]]]
    return [[(datetime.fromisoformat(text) - start).total_seconds() for text in pair] for pair in rounds]


def test_each_has_its_time_its_folder_and_its_record(checkout):
    others = (
        beside("one", SLEEP % 0.3, at=0.4),
        beside("then", "print('then')", number=2, after=1, at=0.2),
        beside("again", SLEEP % 0.1, number=3, period=0.5),
        beside("endless", ENDLESS, number=4, stops=True),
        beside("longer", SLEEP % 2.5, number=5),
    )
    assert run(checkout, *others).returncode == 0, checkout.failure("s-load")
    main, one, then, again, endless, longer = checkout.result("s-load")["steps"]
    start = datetime.fromisoformat(main["started"])
    (one_began, one_ended), (then_began, _) = times(one, start)[0], times(then, start)[0]
    assert one_began >= 0.4
    assert then_began >= one_ended + 0.15  # a program ends a little before that is seen
    rounds = times(again, start)
    assert len(rounds) >= 2
    assert all(began >= 0.5 * number for number, (began, _) in enumerate(rounds))
    assert rounds[-1][0] <= main["seconds"] + 0.2
    assert (endless["status"], endless["exit"], endless["stopped"]) == ("done", -signal.SIGTERM, True)
    assert longer["seconds"] >= 2.5 > main["seconds"]  # the step waits for it, its own time is its own
    folder = checkout.store.result("s-load") / "steps"
    assert (folder / "2-main_then/stdout").read_text() == "then\n"
    assert (folder / "3-main_again/round-2/stdout").exists()


@pytest.mark.parametrize(
    ("main", "other", "step", "message"),
    [
        (600, beside("bad", "raise SystemExit(3)", at=0.2), "main/bad", "it ended with exit status 3"),
        (0.3, beside("late", "", at=30.0), "main/late", "it never began: the step that it runs beside ended before"),
    ],
)
def test_a_failing_one_fails_the_step(checkout, main, other, step, message):
    assert run(checkout, other, beside("endless", ENDLESS, number=2, stops=True), main=SLEEP % main).returncode == 1
    failure = checkout.failure("s-load")
    assert failure["step"] == step
    assert failure["message"].startswith(message)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_a_job_that_is_killed(checkout, until, gone, number):
    checkout.plan(make_stage("s-load", make_step("main", ENDLESS), beside("endless", ENDLESS)))
    job = checkout.start("s-load")

    def pids():
        files = [*checkout.store.root.glob("attempts/s-load/*/steps/*/pid")]
        return [int(text) for file in files if (text := Path(file).read_text())] if len(files) == 2 else None

    found = until(pids)
    job.send_signal(number)
    job.wait()
    until(lambda: all(map(gone, found)))
    checkout.plan(make_stage("s-load", make_step("main", SLEEP % 0.2), beside("short", SLEEP % 0.1)))
    assert checkout.run("s-load").returncode == 0


@pytest.mark.parametrize("another_fails", [False, True])
def test_one_that_begins_when_the_main_step_is_over_is_stopped(another_fails):
    """A process takes a while to start: the main program may end meanwhile, or another one fail."""
    over = Event()

    def run_slowly(_number, started, ended):
        over.wait(10)
        time.sleep(0.2)
        child = subprocess.Popen(["sleep", "600"], process_group=0)
        started(child.pid)
        assert child.wait() == -signal.SIGTERM
        ended(child.pid)

    def fail(*_):
        over.wait(10)
        time.sleep(0.4)
        raise StageError("failed", "x")

    others = [Entry(2, "x", fail)] if another_fails else []
    table = Timetable([Entry(1, "endless", run_slowly, stops=not another_fails), *others])
    table.start(os.getpid())
    time.sleep(0.2)
    table.end_main(os.getpid())
    over.set()
    table.finish()
    assert (table.stopped, bool(table.failure)) == ({1}, another_fails)


def test_a_replayed_one_has_a_database_of_its_own(checkout):
    steps = make_step("main", SLEEP % 0.3), beside("tenant", "import sys\nopen(sys.argv[1] + '/x', 'x')")
    checkout.plan(make_stage("s-load", *steps, children=["s-run"]), make_stage("s-run", *steps, parent="s-load"))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")
    shutil.rmtree(checkout.store.image("s-load"))
    assert checkout.run("s-run").returncode == 0, checkout.failure("s-run")
