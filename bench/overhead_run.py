"""One `stepgrid run` of a measured stage whose build and load are there: what it took, and where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from typing import Any

from bench.spent import ROOT, Spent, stepgrid
from compiler.drivers import running
from compiler.plan import files
from compiler.plan.model import PlannedStage
from compiler.store.store import ATTEMPT, Store

SPEC = """\
title: overhead
include: [{library}/rocksdb.yaml, {library}/db_bench.yaml]
hardware: here
builds:
  rocksdb: {{engine: rocksdb, version: 9.10.0, source: {{debian: rocksdb-tools, suite: trixie}}}}
options:
  - leveled
  - cache_size: 256MiB
    write_buffer_size: 4MiB
    target_file_size_base: 4MiB
    max_bytes_for_level_base: 16MiB
    compression_type: none
workload: db_bench.sequence
steps: [fillseq, flush, {{checkpoint: loaded}}, fwdrange, readrandom, readww, overwrite]
params: {{keys: {keys}, duration: {seconds}s, threads: 1, write_rate: 2MiB}}
allow: {{step-short: a bench of the tool, read-only-step: the same tree in both arms}}
"""
NAME = "overhead.yaml"


@dataclass(frozen=True)
class Run:
    folder: Path  # that holds outputs/
    plan: str
    planned: PlannedStage
    result: Path
    took: Spent

    @property
    def image(self) -> Path:
        assert self.planned.parent
        return Store(self.folder / "outputs").image(self.planned.parent) / "data"

    @property
    def record(self) -> Mapping[str, Any]:
        return _json(self.result / "result.json")

    @property
    def steps(self) -> Sequence[Path]:
        return sorted((self.result / "steps").iterdir())

    @property
    def stage(self) -> Spent:
        """The attempt: from its folder's name to its last word."""
        began = datetime.strptime(f"{self.result.name}+0000", f"{ATTEMPT}%z").timestamp()
        return Spent(began, _at(self.record["ended"]), self.took.cpu)

    @property
    def parts(self) -> Mapping[str, float]:
        """What each part took beyond the steps."""
        steps, noise = self.record["steps"], _json(self.result / "attempt.json").get("noise", {})
        look, stage = float(noise.get("seconds", 0.0)), self.stage
        within = stage.seconds - sum(step["seconds"] for step in steps) - look
        return {
            "plan, Snakemake's start, the job's start": stage.began - self.took.began,
            "the look at the host": look,
            "the rest of the stage": within,
            "collect, summarize, Snakemake's end": self.took.ended - stage.ended,
            "all of it": self.took.seconds - sum(step["seconds"] for step in steps),
        }

    @property
    def own_cpu(self) -> float:
        return self.took.cpu - sum(step["user"] + step["system"] for step in self.record["steps"])

    @property
    def sampler(self) -> float:
        """Of one core, while steps ran."""
        lines = (self.result / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        used = sum(event.get("sampler_cpu", 0.0) for event in map(json.loads, lines))
        return float(used) / sum(step["seconds"] for step in self.record["steps"])

    @property
    def rates(self) -> Mapping[str, float]:
        return rates(self.steps, self.planned)


def rates(folders: Sequence[Path], stage: PlannedStage) -> dict[str, float]:
    """Step -> QPS, as stepgrid's parser reads it."""
    parsed = [running(step.kind).parse(each, step.settings) for each, step in zip(folders, stage.steps, strict=True)]
    return {step.name: found.metrics["qps"] for step, found in zip(stage.steps, parsed, strict=True)}


def prepared(folder: Path, seconds: int, keys: str) -> Run:
    """Builds, loads, and measures once, which is no pair."""
    folder.mkdir()
    text = SPEC.format(library=ROOT / "specs/library", keys=keys, seconds=seconds)
    (folder / NAME).write_text(text, encoding="utf-8")
    took = stepgrid(folder, "run", NAME)
    store = Store(folder / "outputs")
    plan = next(path.name for path in store.plan("_").parent.iterdir() if not path.name.startswith("."))
    stage = next(stage for stage in files.read(store.plan(plan)).stages if stage.parent)
    return _found(folder, plan, stage, took)


def again(first: Run) -> Run:
    """As if the stage had never been measured, nor the spec been seen."""
    store = Store(first.folder / "outputs")
    for path in (store.results_of(first.planned.id), store.summary(first.plan), store.remembered("_").parent):
        rmtree(path)
    store.drop_mark(first.planned.id)
    return _found(first.folder, first.plan, first.planned, stepgrid(first.folder, "run", NAME))


def _found(folder: Path, plan: str, stage: PlannedStage, took: Spent) -> Run:
    result = Store(folder / "outputs").result(stage.id)
    assert result, f"{stage.title} was not measured"
    return Run(folder, plan, stage, result, took)


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
