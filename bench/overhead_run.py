"""One `stepgrid run` of a measured stage whose build and load are there: what it took, and where."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from bench.small_tree import SMALL_TREE
from bench.spent import ROOT, Spent, stepgrid
from stepgrid.model.plan import PlannedStage
from stepgrid.plan import plan_file
from stepgrid.plugins.registry import require_runner
from stepgrid.store.paths import TIME_FORMAT
from stepgrid.store.store import Store

SPEC = (
    "title: overhead\n"
    + SMALL_TREE
    + """\
workload: db_bench.sequence
steps: [fillseq, flush, {{checkpoint: loaded}}, fwdrange, readrandom, readww, overwrite]
params: {{keys: {keys}, duration: {seconds}s, threads: 1, write_rate: 2MiB}}
allow: {{step-short: a bench of the tool, read-only-step: the same tree in both arms}}
"""
)
NAME = "overhead.yaml"


class Place(NamedTuple):
    folder: Path  # that holds outputs/
    spec: str
    plan: str
    stage: PlannedStage  # the measured one

    @property
    def store(self) -> Store:
        return Store(self.folder / "outputs")

    @property
    def image(self) -> Path:
        assert self.stage.parent
        return self.store.image(self.stage.parent) / "data"

    @property
    def steps(self) -> Sequence[Path]:
        """The folders of the steps in the newest result, in order."""
        result = self.store.result(self.stage.id)
        assert result, f"{self.stage.title} was not measured"
        return [next((result / "steps").glob(f"{index}-*")) for index in range(len(self.stage.steps))]


class Run(NamedTuple):
    took: Spent
    stage: Spent  # of it the attempt: from its folder's name to its last word
    parts: Mapping[str, float]  # seconds beyond the steps
    own_cpu: float
    sampler: float  # of one core, while steps ran
    rates: Mapping[str, float]  # step -> QPS


def _read(place: Place, took: Spent) -> Run:
    """Now: the next run removes what it is read from."""
    result = place.steps[0].parents[1]
    record = _json(result / "result.json")
    began = datetime.strptime(f"{result.name}+0000", f"{TIME_FORMAT}%z").timestamp()
    stage = Spent(began, datetime.fromisoformat(record["ended"]).timestamp(), took.cpu)
    steps = {name: sum(step[name] for step in record["steps"]) for name in ("seconds", "user", "system")}
    parts = _parts(took, stage, steps["seconds"], _look(result))
    own = took.cpu - steps["user"] - steps["system"]
    return Run(took, stage, parts, own, _sampler(result) / steps["seconds"], rates(place.steps, place.stage))


def _parts(took: Spent, stage: Spent, steps: float, look: float) -> Mapping[str, float]:
    return {
        "plan, Snakemake's start, the job's start": stage.began - took.began,
        "the look at the host": look,
        "the rest of the stage": stage.seconds - steps - look,
        "collect, summarize, Snakemake's end": took.ended - stage.ended,
        "all of it": took.seconds - steps,
    }


def _look(result: Path) -> float:
    return float(_json(result / "attempt.json").get("noise", {}).get("seconds", 0.0))


def _sampler(result: Path) -> float:
    """CPU seconds."""
    events = map(json.loads, (result / "journal.jsonl").read_text(encoding="utf-8").splitlines())
    return float(sum(event.get("sampler_cpu", 0.0) for event in events))


def rates(folders: Sequence[Path], stage: PlannedStage) -> dict[str, float]:
    """Step -> QPS, as stepgrid's parser reads it."""
    parsed = [
        require_runner(step.kind).parse(each, step.settings) for each, step in zip(folders, stage.steps, strict=True)
    ]
    return {step.name: found.metrics["qps"] for step, found in zip(stage.steps, parsed, strict=True)}


def prepared(folder: Path, seconds: int, keys: str, more: str = "", name: str = NAME) -> Place:
    """Builds, loads, and measures once, which is no pair. In a folder that has these already only the last is done."""
    folder.mkdir(exist_ok=True)
    text = SPEC.format(library=ROOT / "specs/library", keys=keys, seconds=seconds) + more
    (folder / name).write_text(text, encoding="utf-8")
    store = Store(folder / "outputs")
    before = _plans(store)
    stepgrid(folder, "run", name)
    (plan,) = _plans(store) - before
    stages = plan_file.read(store.plan(plan)).stages
    return Place(folder, name, plan, next(stage for stage in stages if stage.parent))


def _plans(store: Store) -> set[str]:
    folder = store.plan("_").parent
    return {path.name for path in folder.iterdir() if path.name[0] != "."} if folder.exists() else set()


def parent(place: Place) -> Place:
    """Where the load ran."""
    stages = plan_file.read(place.store.plan(place.plan)).stages
    return place._replace(stage=next(stage for stage in stages if stage.id == place.stage.parent))


def again(place: Place) -> Run:
    """As if the stage had never been measured, nor the spec been seen."""
    store = place.store
    for path in (store.results_of(place.stage.id), store.summary(place.plan), store.request_note("_").parent):
        rmtree(path)
    store.drop_mark(place.stage.id)
    return _read(place, stepgrid(place.folder, "run", place.spec))


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
