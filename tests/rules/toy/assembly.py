"""Stands in for the spec's compiler: a JSON file says builds, arms, loads and seconds; the plan is a real one."""

import hashlib
import json
import sys
from pathlib import Path

from stepgrid.language.files import record_file
from stepgrid.language.problems import Location, Problem, SpecError
from stepgrid.model.plan import (
    CellStep,
    Plan,
    PlannedAxis,
    PlannedBuild,
    PlannedCell,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.records import replace
from stepgrid.plan.order import ranks


def compile_spec(path, scale, host, problems=None, context=None):
    if Path(path).is_fifo():
        print("compile_spec waits", file=sys.stderr, flush=True)
    content = Path(path).read_bytes()
    record_file(path, content)
    raw = json.loads(content)
    if raw.get("broken"):
        raise SpecError([Problem("toy", Location(path, 1, 1), "the spec is broken", "mend it")])
    raw |= raw.get("scales", {}).get(scale, {})
    stages = list(_stages(raw))
    rank = ranks(stages, raw.get("order", "randomized"), 1)
    ranked = tuple(sorted((replace(stage, rank=rank[stage.id]) for stage in stages), key=lambda stage: stage.id))
    builds = tuple(PlannedBuild(f"b-{name}", name, "rocksdb", "1", {}) for name in sorted(raw["builds"]))
    digest = hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:12]
    axes = (PlannedAxis("build", tuple(raw["builds"])), PlannedAxis("arm", tuple(raw["arms"]), ("read",)))
    report = PlannedReport({"arm": raw["arms"][0]}, within=raw.get("within"))
    return Plan(digest, "toy", path, scale, axes, tuple(_cells(raw)), builds, ranked, {}, report)


def _stages(raw):
    for build in raw["builds"]:
        for load in range(raw["loads"]):
            root = f"s-{build}-{load}"
            arms = tuple(f"{root}-{arm}" for arm in raw["arms"])
            yield _stage(raw, root, f"{build}, load {load + 1}: fill", build, None, arms, load)
            for stage in arms:
                title = f"{build} arm={stage[-1]}, load {load + 1}: read"
                yield _stage(raw, stage, title, build, root, (), load)


def _stage(raw, node, title, build, parent, children, load):
    step = PlannedStep(title.rsplit(": ")[-1], "db_bench", 1, {"duration": raw["seconds"]}, {}, 1)
    seconds = raw.get("long", {}).get(node, raw["seconds"])
    return PlannedStage(node, title, f"b-{build}", parent, children, load, 0, "h", (step,), seconds, 0)


def _cells(raw):
    for build in raw["builds"]:
        for arm in raw["arms"]:
            chains = tuple(PlannedRepeat(n, 0, (f"s-{build}-{n}", f"s-{build}-{n}-{arm}")) for n in range(raw["loads"]))
            steps = CellStep("fill", "db_bench", 0, 0, False), CellStep("read", "db_bench", 1, 0, True)
            yield PlannedCell(f"{build}-{arm}", {"build": build, "arm": arm}, f"b-{build}", steps, chains)
