"""Stands in for the runner: sleeps where an engine would work, and publishes, reports and dies as the runner does."""

import ctypes
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from stepgrid.plan import plan_file
from stepgrid.run.end_time import skip_if_late
from stepgrid.store.stage_requests import pending_redo
from stepgrid.store.store import Store


def note(text):
    with Path("log").open("a") as log:
        log.write(f"{text}\n")


def stop(number, _):
    note(f"stopped {stage.id}")
    os._exit(1)


store, plan = Store(), sys.argv[1]
stage = plan_file.read(store.plan(plan)).stage(sys.argv[2])
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN if Path("deaf").exists() else stop)
if (result := store.result(stage.id)) is not None and not pending_redo(store, stage.id):
    store.set_mark(stage.id, result / "result.json")
    sys.exit()

if skip_if_late(store, plan, stage):
    sys.exit(1)
note(f"measure {stage.id}")
began, attempt = datetime.now(UTC), store.new_attempt(stage.id)
if Path(f"kill-{stage.id}").exists():
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(stage.seconds)
if Path(f"fail-{stage.id}").exists():
    (attempt / "failure.json").write_text("{}")
    sys.exit(f"{stage.title}: the step failed")
times = {"started": began.isoformat(), "ended": datetime.now(UTC).isoformat()}
(attempt / "steps" / "0-step").mkdir(parents=True)
record = {"stage": stage.id, "status": "done", **times, "steps": [{}]}
(attempt / "result.json").write_text(json.dumps(record))
store.publish_result(stage.id, attempt)
