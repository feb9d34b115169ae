"""Whole reports of made figures: what the text of each says of its arms, and what it says no more of.

A case of reports.yaml has the figures of arms, of each load or of all; facts of their results; the report that the spec
asks for. The golden text has the answer, doubts, comparisons, causes, changes and claims. So a verdict, a refusal and a
sentence are held where a reader meets them, whichever module makes them.
"""

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

from stepgrid.model.plan import (
    AdaptiveRepeat,
    Option,
    Plan,
    PlannedAxis,
    PlannedBuild,
    PlannedCell,
    PlannedRepeat,
    PlannedReport,
    PlannedStage,
    PlannedStep,
)
from stepgrid.model.records import StepSetup, replace
from stepgrid.plan.difference import Link
from stepgrid.plugins.metrics import METRICS
from stepgrid.store.plans import Request
from stepgrid.summarize import next_action, summary_text
from stepgrid.summarize.comparisons.decisions import decision_sentences
from stepgrid.summarize.data.tables_reader import StepDetails, Tables
from stepgrid.summarize.gate import Condition, Gate, gate_cases
from stepgrid.summarize.report import make_report
from tests.cases import cases
from tests.summarize import made, scenario

CASES = cases(Path(__file__).with_name("reports.yaml"))
LEVELS = (1.0, 1.002, 0.998)  # of three loads, where a case says nothing else
KEPT = ("answer", "read with care", "by other metrics", "changes", "claims", "differences")
WORDS = ("status", "reason", "warnings", "minutes", "build", "client", "kind")  # of an arm: no metrics
ALSO = {
    "causes": ("why: ",),
    "cost": ("decision",),
    "setup": ("what the arms", "what the steps"),
    "next": ("what next",),
}


def of_load(value, load):
    return value[load] if isinstance(value, list) else value


def runs_of(case, step, labels, figures):
    name = "-".join(labels.values())
    usual = 1000.0 if labels[next(iter(labels))] == next(iter(case_axes(case).values()))[0] else 1060.0
    qps = figures.get("qps", [usual * level for level in LEVELS])
    for load in range(len(qps) if isinstance(qps, list) else len(LEVELS)):
        known = {key: of_load(value, load) for key, value in figures.items() if key != "warnings"}
        metrics = {key: float(value) for key, value in known.items() if key not in WORDS and value is not None}
        index = list(case["steps"]).index(step)
        run = made.run(name, load + 1, of_load(qps, load) or 0.0, index, minutes=known.get("minutes", 0.0), **{
            key: value for key, value in metrics.items() if key != "qps"
        })  # fmt: skip
        status = known.get("status", "missing" if of_load(qps, load) is None else "done")
        build = str(known.get("build", labels.get("build", "b")))
        yield replace(
            run,
            labels=labels,
            step=step,
            kind=known.get("kind", case.get("kind", "db_bench")),
            build=build,
            build_id=f"b-{build}",
            client_id=known.get("client"),
            status=status,
            reason=known.get("reason"),
            warnings=tuple(figures.get("warnings", ())),
            metrics=run.metrics if status == "done" else {},
        )


def case_axes(case):
    axes = case.get("axes") or {"arm": list(next(iter(case["steps"].values())))}
    return {name: list(map(str, labels)) for name, labels in axes.items()}


def all_runs(case):
    names = list(case_axes(case))
    for step, arms in case["steps"].items():
        for label, figures in arms.items():
            labels = dict(zip(names, str(label).split("/"), strict=False))
            yield from runs_of(case, step, labels, figures or {})


def plan_of(case, loads):
    axes = case_axes(case)
    known = case.get("planned", {})
    kind = case.get("kind", "db_bench")
    cells, stages = [], []
    for labels in product(*axes.values()):
        name = "-".join(labels)
        own = known.get("by", {}).get(name, {})
        options = {key: Option(value) for key, value in (known.get("options", {}) | own.get("options", {})).items()}
        settings = known.get("settings", {}) | own.get("settings", {})
        steps = tuple(
            PlannedStep(
                step,
                kind,
                1,
                settings,
                options,
                7,
                mutates=known.get("mutates", False),
                setup=convert(known.get("setup", {}), StepSetup),
            )
            for step in case["steps"]
        )
        build = dict(zip(axes, labels, strict=True)).get("build", "b")
        names = [f"s-{name}-{load + 1}-0" for load in range(loads)]
        stages += [PlannedStage(node, node, f"b-{build}", None, (), load, 0, "h", steps, 1.0, 0)
                   for load, node in enumerate(names)]  # fmt: skip
        repeats = tuple(PlannedRepeat(load, 0, (node,)) for load, node in enumerate(names))
        cells.append(PlannedCell(name, dict(zip(axes, labels, strict=True)), f"b-{build}", (), repeats))
    report = {"base": {next(iter(axes)): next(iter(axes.values()))[0]}, **case.get("report", {})}
    facts, engine = case.get("builds", {}), known.get("engine", "rocksdb")
    builds = [
        PlannedBuild(f"b-{name}", name, engine, facts.get(f"b-{name}", {}).get("version", "1.0"), {})
        for name in axes.get("build", "b")
    ]
    shared = tuple(case["steps"]) if case.get("shares_loads") else None
    until = AdaptiveRepeat(**case["until"]) if "until" in case else None
    return Plan(
        digest="p",
        title="title",
        spec="a.yaml",
        scale=case.get("scale"),
        axes=tuple(PlannedAxis(name, tuple(values), shared) for name, values in axes.items()),
        cells=tuple(cells),
        builds=tuple(builds),
        stages=tuple(stages),
        hardware={"id": "h", "declared": False, "cores": 2},
        report=convert(report, PlannedReport),
        warnings=tuple(case.get("warnings", ())),
        until=until,
    )


class Growth(StepDetails, frozen=True, kw_only=True):
    """Growth of counters by source."""

    grown: Mapping[tuple[str, int], Any]

    @classmethod
    def of(cls, runs, grown):
        """`grown`: by cell, of each operation."""
        by_place = {
            run.place: {
                source: {name: value * run.metrics.get("operations", 1.0) for name, value in values.items()}
                for source, values in grown.get(run.cell, {}).items()
            }
            for run in runs
        }
        return cls(grown=by_place)

    def counters(self, keys, sources=()):
        return {place: self.grown.get(place, {}) for place in keys}


def facts_of(case, runs):
    facts = {"build": case.get("builds", {}), "default": case.get("defaults", {})}
    for scope, subjects in case.get("facts", {}).items():
        for run in runs:
            values = subjects.get(f"{run.cell}/{run.load}", subjects.get(run.cell))
            if values is not None:
                result = f"{run.place[0]}/{run.attempt}" + ("/0" if scope == "step start" else "")
                texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
                facts.setdefault(scope, {})[result] = texts
    return facts


def report_of(case):
    runs = list(all_runs(case))
    plan = plan_of(case, max(run.load for run in runs))
    names = {name for run in runs for name in run.metrics}
    rates = case.get("series", {})
    series = {run.place: tuple(enumerate(rates[run.cell], 1)) for run in runs if run.cell in rates}
    tables = Tables(
        tuple(runs),
        series,
        facts_of(case, runs),
        units={name: METRICS[name].unit for name in names if name in METRICS} | case.get("units", {}),
        better={name: METRICS[name].better or "" for name in names if name in METRICS} | case.get("better", {}),
        details=Growth.of(runs, case.get("grown", {})),
    )
    tables = replace(tables, request=Request(**case["request"]) if "request" in case else None)
    tables = replace(tables, better={name: better for name, better in tables.better.items() if better})
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id: build for build in plan.builds}
    has_links = "planned" in case

    def links(nodes):
        return [Link.of(stages[node], builds.__getitem__) for node in nodes] if has_links else []

    return plan, make_report(plan, tables, links=links)


def report_text(case):
    plan, report = report_of(case)
    if case["group"] == "next action":
        return "\n".join(f"{name}: {text}" for name, text in next_action.lines(report) if text)
    blocks = summary_text.text(report, None).split("\n\n")
    begins = (*KEPT, *ALSO.get(case["group"], ()))
    kept = [block.strip("\n") for block in blocks[1:] if block.startswith(begins) or " relative to " in block[:60]]
    return "\n".join([*kept, *decision_sentences(report.comparisons.decisions, plan.until)])


@pytest.mark.parametrize("group", sorted({case["group"] for case in CASES}))
def test_reports(group, golden):
    chosen = [case for case in CASES if case["group"] == group]
    golden("\n\n".join(f"# {case['case']}\n{report_text(case)}" for case in chosen) + "\n")


def test_a_gate_refuses_an_arm_that_was_never_steady():
    (case,) = (case for case in CASES if case["case"].startswith("of steps that are to become steady"))
    gated = gate_cases(report_of(case)[1], Gate((Condition("undecided"),)))
    assert [(one.name, one.text) for one in gated if one.is_refused and "never" in one.name] == [
        ("read, arm=never, QPS", "1.20× [1.19, 1.21], no steady state in 3 of 3 runs, in 0 of 3 of the base")
    ]


@pytest.mark.parametrize("name", ["of a scale, faster", "of a scale, mixed", "of a scale, worse somewhere"])
def test_each_decision_names_its_conditions(name):
    (case,) = (case for case in CASES if case["case"] == name)
    _, report = report_of(case)
    (comparison,) = report.comparisons.leading
    doubtful = {"as_shipped": "suites", "doubts": ("unequal durability: commit sync / os",), "perhaps": True}
    rows = tuple(replace(row, entries=(row.entries[0], replace(row.entries[1], **doubtful))) for row in comparison.rows)
    decision = next_action.decision(scenario.altered(report, all=(replace(comparison, rows=rows),)))
    assert decision.startswith("perhaps ")
    assert decision.endswith(" may be chance, as shipped, unequal durability: commit sync / os, scale smoke)")
