"""Collectors beside a step, by real processes; a real perf where there is one that may look."""

import json
import re

import pytest
from msgspec import convert

from stepgrid.collect import counts
from stepgrid.model.records import StepSetup, replace
from tests.cases import rows
from tests.needs import may_profile, needs

WORK = "import time\nend = time.process_time() + %s\nwhile time.process_time() < end: sum(range(1000))"
WAITS = "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(print('counted')))\ntime.sleep(60)"
PYTHON = "{program:python}"


@pytest.fixture
def measured(checkout, stage, step):
    """The step's folder after it ran beside some collectors."""

    def run(*listed, seconds=0.3):
        checkout.plan(
            stage(
                "s-load", replace(step("load", WORK % seconds), setup=convert({"collectors": list(listed)}, StepSetup))
            )
        )
        done = checkout.run("s-load")
        assert done.returncode == 0, checkout.failure("s-load")
        return checkout.store.result("s-load") / "steps/0-load"

    return run


def _record(folder, name):
    return json.loads((folder / "collectors" / name / "collector.json").read_text())


def test_it_is_told_to_end_with_the_step_and_keeps_what_it_wrote(measured):
    words = [PYTHON, "-c", f"print('{{pid}}', '{{folder}}', flush=True)\n{WAITS}"]
    folder = measured({"name": "mine", "command": words}, seconds=1.0)
    pid, where, said = (folder / "collectors/mine/stdout").read_text().split()
    assert said == "counted"
    assert pid.isdecimal()
    assert where.endswith("/steps/0-load/collectors/mine")
    assert _record(folder, "mine") == {"name": "mine", "command": words, "exit": 0, "warning": None}
    assert list(counts.collector_warnings(folder)) == ["measured with mine beside it: they cost some of its speed"]


@pytest.mark.parametrize(("command", "status", "warning"), rows(__file__, "what_fails_of_it_is_a_warning"))
def test_what_fails_of_it_is_a_warning(measured, command, status, warning):
    folder = measured({"name": "mine", "command": command})
    assert (_record(folder, "mine")["exit"], _record(folder, "mine")["warning"]) == (status, warning)
    assert list(counts.collector_warnings(folder))[-1] == f"collector mine: {warning}"


def test_a_step_that_fails_takes_its_collectors_along(checkout, stage, step):
    own = {"name": "mine", "command": [PYTHON, "-c", WAITS]}
    checkout.plan(
        stage("s-load", replace(step("load", "raise SystemExit(4)"), setup=convert({"collectors": [own]}, StepSetup)))
    )
    assert checkout.run("s-load").returncode == 1
    assert checkout.failure("s-load")["message"] == "it ended with exit status 4"


@needs("perf")
def test_perf_counts_and_draws(measured):
    if not may_profile():
        pytest.skip("perf may not look at processes here: see kernel.perf_event_paranoid")
    folder = measured(
        {"name": "counts", "collector": "perf_stat"},
        {"name": "fg", "collector": "perf_record", "frequency": 999},
        seconds=1.5,
    )
    assert [_record(folder, name)["warning"] for name in ("counts", "fg")] == [None, None]
    assert 0 < counts.collector_figures(folder)["perf_task_clock_ms"] < 3000
    graph = (folder / "collectors/fg/flamegraph.svg").read_text()
    assert int(re.search(r">fg: (\d+) samples<", graph)[1]) > 10
    assert not (folder / "collectors/fg/script").exists()


THREADS = """\
import threading, time
def work():
    end = time.thread_time() + 0.5
    while time.thread_time() < end: sum(range(1000))
many = [threading.Thread(target=work) for _ in range(2)]
for each in many: each.start()
for each in many: each.join()
"""


@needs("perf")
def test_a_program_begins_when_perf_follows_its_threads(checkout, stage, step):
    """Threads that began before perf had looked at all of them were missed, about one time in three on a busy host."""
    if not may_profile():
        pytest.skip("perf may not look at processes here: see kernel.perf_event_paranoid")
    asked = [{"name": "counts", "collector": "perf_stat"}, {"name": "fg", "collector": "perf_record"}]
    checkout.plan(stage("s-load", replace(step("load", THREADS), setup=convert({"collectors": asked}, StepSetup))))
    assert checkout.run("s-load").returncode == 0, checkout.failure("s-load")
    folder = checkout.store.result("s-load") / "steps/0-load"
    record = json.loads((folder / "step.json").read_text())
    counted = counts.collector_figures(folder)["perf_task_clock_ms"]
    assert counted == pytest.approx(1000 * (record["user"] + record["system"]), rel=0.1)
    assert _record(folder, "fg")["warning"] is None
