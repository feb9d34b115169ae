"""`stepgrid store push` and `pull` of a thousand results under kill -9: `.venv/bin/python -m bench.store_transfer`.

The same command is started again until it ends by itself. Whatever was there must have arrived, each file as it was."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stepgrid.host.files import sha256, write_json
from stepgrid.model.plan import Plan, PlannedStage
from stepgrid.model.records import plain
from stepgrid.store import plans, results
from stepgrid.store.paths import IMPORTED
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan

LOADS = 20  # of 50 stages
OUTPUT = 20_000  # bytes of a step
FIRST, LAST = 0.5, 8.0  # seconds after which a process is killed

SPEC = """\
title: a store that moves
builds:
  one: {engine: program, version: "1.0", source: {system: sh}, flags: {programs: sh}}
  two: {engine: program, version: "2.0", source: {system: sh}, flags: {programs: sh}}
params: {threads: 1, cache: a}
steps:
  - {name: load, kind: command, argv: [sh, -c, "true"], duration: 600s, measured: false, mutates: true}
  - checkpoint: there
  - {name: go, kind: command, argv: [sh, -c, "echo {{ params.threads }} {{ params.cache }}"], duration: 300s}
sweep:
  cache: {param: cache, values: [a, b, c], from: there}
  threads: {param: threads, values: [1, 2, 4, 8, 16, 32, 64, 128], from: there}
repeat: LOADS
report: {base: {cache: a}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=24)
    chance = random.Random(parser.parse_args().seed)
    with tempfile.TemporaryDirectory() as folder:
        one, two = (Path(folder, name) for name in ("one", "two"))
        one.mkdir()
        two.mkdir()
        os.chdir(one)
        made = _measured(chance)
        print("| | kills | seconds, all together | of those, the last | results | files that differ or are missing |")
        print("|---|---|---|---|---|---|")
        for verb, place in (("push", one), ("pull", two)):
            os.chdir(place)
            began = time.monotonic()
            kills, last = _until_through(verb, f"{folder}/shared", chance)
            took = time.monotonic() - began
            missing = _differing(one, two) if verb == "pull" else 0
            print(f"| {verb} | {kills} | {took:.0f} | {last:.1f} | {made} | {missing if verb == 'pull' else ''} |")


def _measured(chance: random.Random) -> int:
    Path("fleet.yaml").write_text(SPEC.replace("LOADS", str(LOADS)), encoding="utf-8")
    plan = host_plan.compile_for_host("fleet.yaml", None)
    plans.publish(Store(), plan)
    for stage in plan.stages:
        _result(plan, stage, chance)
    return len(plan.stages)


def _result(plan: Plan, stage: PlannedStage, chance: random.Random) -> None:
    """As a run leaves one, straight into the store: publishing waits for the disk."""
    folder = Store().results_of(stage.id) / "20260101T000000.000000Z"
    for index, step in enumerate(stage.steps):
        inside = folder / "steps" / f"{index}-{step.name}"
        inside.mkdir(parents=True)
        (inside / "stdout").write_bytes(chance.randbytes(OUTPUT))
        (inside / "samples.jsonl").write_text(f'{{"t": {chance.random()}}}\n' * 100, encoding="utf-8")
    common = {"stage": stage.id, "attempt": folder.name, "build": stage.build}
    write_json(folder / "attempt.json", {**common, "plan": plan.digest, "host": {"hostname": "made-up"}})
    steps = [{"name": step.name, "folder": f"steps/{index}-{step.name}"} for index, step in enumerate(stage.steps)]
    times = {"started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T00:00:00+00:00"}
    said = {**common, "status": "done", "steps": steps, **times, "files": plain(results.result_checksums(folder))}
    write_json(folder / "result.json", said)


def _until_through(verb: str, url: str, chance: random.Random) -> tuple[int, float]:
    """Kills, and the seconds of the last process, which ended by itself."""
    kills = 0
    while True:
        began = time.monotonic()
        argv = [sys.executable, "-m", "stepgrid.cli", "store", verb, url, *(["--host"] if verb == "push" else [])]
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        try:
            status = process.wait(chance.uniform(FIRST, LAST))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        assert status == 0, status
        return kills, time.monotonic() - began


def _differing(one: Path, two: Path) -> int:
    found = [{str(path.relative_to(each)): sha256(path) for path in _files(each)} for each in (one, two)]
    return len(found[0].items() ^ found[1].items())


def _files(checkout: Path) -> list[Path]:
    return [path for path in (checkout / "outputs" / "results").rglob("*") if path.is_file() and path.name != IMPORTED]


if __name__ == "__main__":
    main()
