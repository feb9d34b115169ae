"""What a checkout holds already: plans, builds, results, images and attempts, put there by hand."""

import json
import shutil
from pathlib import Path

from stepgrid.host.files import write_json
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.importers.db_bench.made import report as db_bench_report
from tests.importers.db_bench.made import row
from tests.importers.made import run as sysbench_run
from tests.importers.made import sysbench
from tests.summarize.synthetic import BENCHMARK, report, stdout

TIME = "20260101T000000.000000Z"


def kept(spec="a.yaml"):
    """Keep the plan of a spec, as a run does."""
    plan = host_plan.compile_for_host(spec, None)
    target = Store().plan(plan.digest)
    target.parent.mkdir(parents=True, exist_ok=True)
    plans.write(plan, target)
    return plan


def measured(plan, stages, seconds=30, **more):
    for stage in stages:
        folder = Store().root / "results" / stage.id / TIME
        shutil.rmtree(folder, ignore_errors=True)
        for index, step in enumerate(stage.steps):
            (folder / "steps" / f"{index}-{step.name}").mkdir(parents=True)
        times = {"started": "2026-01-01T00:00:00+00:00", "ended": f"2026-01-01T00:00:{seconds:02}+00:00"}
        record = {"stage": stage.id, "status": "done", "reason": None, **times, "seconds": seconds, **more}
        (folder / "result.json").write_text(json.dumps({**record, "steps": [{}] * len(stage.steps)}, indent=1))
        (folder / "attempt.json").write_text(json.dumps({"plan": plan.digest}))


def with_image(stage, size):
    folder = Store().image(stage.id)
    folder.mkdir(parents=True)
    (folder / "image.json").write_text(json.dumps({"stage": stage.id, "bytes": size, "files": {}}, indent=1))


def built(plan):
    for build in plan.builds:
        folder = Store().build(build.id)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "build.json").write_text("{}")


def put(rates, plan=None):
    """A result with output of db_bench for every stage: QPS by the label of `threads`, 500 of a load."""
    plan, store = plan or kept(), Store(Path("outputs"))
    threads = {repeat.stages[-1]: cell.labels["threads"] for cell in plan.cells for repeat in cell.repeats}
    for stage in plan.stages:
        attempt = store.new_attempt(stage.id)
        rate = rates.get(threads.get(stage.id, ""), 500.0)
        steps = [_step(attempt, index, step.name, rate) for index, step in enumerate(stage.steps)]
        record = {"stage": stage.id, "attempt": attempt.name, "status": "done", "steps": steps}
        (attempt / "result.json").write_text(json.dumps(record))
        store.publish_result(stage.id, attempt)


def _step(attempt, index, name, rate):
    folder = attempt / f"steps/{index}-{name}"
    folder.mkdir(parents=True)
    (folder / "stdout").write_text(stdout(BENCHMARK[name], [rate] * 4))
    (folder / "stderr").write_text("RocksDB:    version 7.8.3\n")
    (folder / "report.csv").write_text(report([rate] * 4))
    return {"name": name, "kind": "db_bench", "status": "done", "seconds": 4.0, "started": "2026-11-20T10:00:00Z"}


# Words of transcripts: of stages those whose title has all of the words


def _stages(words, spec="a.yaml"):
    stages = [
        stage
        for stage in host_plan.compile_for_host(spec, None).stages
        if all(word in stage.title or (word == "loads" and stage.parent is None) for word in words)
    ]
    assert stages, f"no stage has {words} in its title"
    return stages


def _measured(*words):
    """All of a spec with its builds, or stages of a.yaml; `status=`, `reason=` and `spec=` are not words."""
    more = dict(word.split("=", 1) for word in words if word.startswith(("status=", "reason=")))
    spec = next((word.removeprefix("spec=") for word in words if word.startswith("spec=")), "a.yaml")
    plan = kept(spec)
    built(plan)
    rest = [word for word in words if not word.startswith(("status=", "reason=", "spec="))]
    measured(plan, _stages(rest, spec), **more)


def _failed(message, *words):
    (stage,) = _stages(words)
    failure = {"status": "failed", "step": stage.steps[-1].name, "message": message}
    write_json(Store().new_attempt(stage.id) / "failure.json", failure)


def _interrupted(*words):
    (stage,) = _stages(words)
    write_json(
        Store().new_attempt(stage.id) / "failure.json", {"status": "interrupted", "message": "stopped by SIGTERM"}
    )


def _disturbed(*words):
    for stage in _stages(words):
        path = Store().results_of(stage.id) / TIME / "attempt.json"
        write_json(path, {**json.loads(path.read_text()), "noise": {"warning": "others used 45 % of a core"}})


def _image(size, *words):
    for stage in _stages(words):
        with_image(stage, int(size))


def _catalogue(build, *options):
    """A build of a.yaml that is made: what it says of its options, as NAME:TYPE or NAME:TYPE:DEFAULT."""
    for planned in host_plan.compile_for_host("a.yaml", None).builds:
        if planned.name == build:
            folder = Store().build(planned.id)
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / "build.json", {"id": planned.id, "engine": planned.engine, "programs": {}})
            parts = [(*option.split(":"), "")[:3] for option in options]
            known = {name: {"type": kind, "default": default, "help": ""} for name, kind, default in parts}
            write_json(folder / "catalogue.json", known)


def _programs(build, *names):
    """A build of a.yaml that is made, with these programs."""
    (node,) = (each.id for each in host_plan.compile_for_host("a.yaml", None).builds if each.name == build)
    Store().build(node).mkdir(parents=True)
    write_json(Store().build(node) / "build.json", {"programs": {name: [name] for name in names}})


def _rates(*pairs):
    put({label: float(rate) for label, rate in (pair.split("=") for pair in pairs)})


def _cell():
    return host_plan.compile_for_host("a.yaml", None).cells[-1].id[:12]


def _binary(node, name, version, *options):
    """A build of the store, with options as NAME:TYPE:DEFAULT:HELP."""
    folder = Store().build(node)
    folder.mkdir(parents=True, exist_ok=True)
    source = {"system": f"bench-{version}"}
    write_json(
        folder / "build.json", {"id": node, "name": name, "engine": "rocksdb", "version": version, "source": source}
    )
    names = ("name", "type", "default", "help")
    parts = [dict(zip(names, [*option.split(":"), ""], strict=False)) for option in options]
    write_json(folder / "catalogue.json", {part.pop("name"): part for part in parts})


def _recordings(function, *words):
    """Stacks of each step; a function more in the stages of these words."""
    meant = {stage.id for stage in _stages(words)}
    for stage in _stages(()):
        result = Store().result(stage.id)
        assert result is not None
        for step in (result / "steps").iterdir():
            place = step / "collectors" / "graph"
            place.mkdir(parents=True)
            write_json(place / "collector.json", {"collector": "perf_record", "name": "graph", "exit": 0})
            (place / "stacks.txt").write_text(f"p;get 3\n{f'p;{function} 9' if stage.id in meant else ''}\n")


def _published(*pairs):
    """Results as a sysbench benchmark publishes them: NAME=QPS."""
    for name, rate in (pair.split("=") for pair in pairs):
        sysbench_run(Path("published") / name, output=sysbench(rate))


def _reports(folder, *versions):
    for version in versions:
        db_bench_report(Path(folder) / version, row(version=version))


WORLDS = {
    "kept": lambda spec="a.yaml": kept(spec) and None,
    "measured": _measured,
    "failed": _failed,
    "interrupted": _interrupted,
    "disturbed": _disturbed,
    "image": _image,
    "catalogue": _catalogue,
    "programs": _programs,
    "rates": _rates,
    "cell": _cell,
    "binary": _binary,
    "recordings": _recordings,
    "published": _published,
    "reports": _reports,
    "newest": lambda: next(Path("outputs/summary").iterdir()).name,
    "stage": lambda *words: _stages(words)[0].id,
    "build": lambda name: next(b.id for b in host_plan.compile_for_host("a.yaml", None).builds if b.name == name),
    "plan": lambda: host_plan.compile_for_host("a.yaml", None).digest,
}
