"""Collect a plan: find the results that count, read those that are not read yet, and write the tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from stepgrid.collect import parquet
from stepgrid.collect.counts import probe_metrics
from stepgrid.collect.result_figures import ResultFigures, fact_rows, figures_file, read_result, stored_figures
from stepgrid.collect.step_figures import STATED, StepFigures
from stepgrid.collect.tables import GROWING, ResultTables
from stepgrid.host.files import read_json
from stepgrid.host.locks import LockBusy, lock_holders, locked
from stepgrid.model import result_schema
from stepgrid.model.metrics import QPS, STEP, Metric
from stepgrid.model.plan import (
    WITHOUT_OPTIONS,
    CellStep,
    Option,
    Options,
    Plan,
    PlannedCell,
    PlannedStage,
    PlannedStep,
    Value,
)
from stepgrid.model.records import replace
from stepgrid.model.status import BrokenRecord, NodeStatus, Result, Status
from stepgrid.plan.expectations import COUNTERS, INDEXES, ROWS, STATE, Fields, counted_figures, names_of_step, violation
from stepgrid.plugins import hit_rate
from stepgrid.plugins.metrics import METRICS, step_metrics
from stepgrid.plugins.statements import used_indexes
from stepgrid.store import builds, stage_requests
from stepgrid.store.attempts import attempt_record, failed_attempt
from stepgrid.store.paths import IMPORTED, RESULT_FILE, RUN_LOCK, names_in
from stepgrid.store.results import BrokenResult, broken_sentence, changed_file, load_result, set_aside
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store, revision

Rows = Iterator[parquet.Row]
Stages = Mapping[str, PlannedStage]


def collect_stamped(store: Store, plan: Plan) -> Mapping[str, NodeStatus]:
    """Write the tables, and note which code wrote them of which results."""
    store.drop_stamps(plan.digest)
    nodes = collect(store, plan)
    records = [node.result.folder / RESULT_FILE for node in nodes.values() if node.result]
    store.stamp_tables(plan.digest, revision(), records)
    return nodes


def collect(store: Store, plan: Plan) -> dict[str, NodeStatus]:
    """Write the tables, and say what became of each stage."""
    folder = store.tables(plan.digest)
    folder.mkdir(parents=True, exist_ok=True)
    metrics = {
        **METRICS,
        **probe_metrics(plan.stages),
        **step_metrics(step for stage in plan.stages for step in stage.steps),
        **{m.name: Metric(m.name, m.unit, m.better, f"Computed: {m.formula}.", STEP) for m in plan.report.derived},
    }
    with parquet.connect() as connection:
        tables = ResultTables(connection, folder)
        nodes = _read_results(store, plan, tables)
        attempts = {stage.id: nodes[stage.id].attempt for stage in plan.stages}
        fixed = {
            "history": (result_schema.HISTORY, history_rows(store, plan, attempts)),
            "metrics": (result_schema.METRICS, _metric_rows(metrics)),
            "columns": (result_schema.COLUMNS, _column_rows(plan, metrics)),
        }
        for name, (columns, rows) in fixed.items():
            parquet.write_rows(connection, folder / f"{name}.parquet", columns, rows)
        tables.write_environment(environment_rows(store, plan))
        tables.write(plan, metrics, nodes, violations(plan, nodes))
    return nodes


def _read_results(store: Store, plan: Plan, tables: ResultTables) -> dict[str, NodeStatus]:
    """Read what is not read yet; again while damaged results could be set aside: an older one may count instead."""
    readings: dict[Path, ResultFigures] = {}
    while True:
        status = StatusReader(store, plan).read()
        damaged = [*_read_raw_output(plan, status.nodes, readings)]
        stuck = [record for record in damaged if not quarantine(store, record)]
        if len(stuck) == len(damaged):
            break
    nodes = dict(status.nodes)
    for record in stuck:  # one that could not be moved has no figures either
        reason = broken_sentence(record.folder, record.why)
        nodes[record.node] = NodeStatus(record.node, nodes[record.node].title, Status.INTERRUPTED, reason)
    stages = {stage.id: stage for stage in plan.stages}
    profiled = {profile: measured for measured, profile in (plan.profile.stages if plan.profile else {}).items()}
    for stage in plan.stages:
        if result := _figures_of(nodes[stage.id]):
            figures = readings.get(result.folder) or _stored(result, stage)
            if stage.id in profiled:
                tables.add_profile(stages[profiled[stage.id]], result.folder, figures)
            else:
                tables.add(stage, result.folder, _complete(figures, result.folder, stage, stages))
    return nodes


def _figures_of(node: NodeStatus) -> Result | None:
    return node.result if node.result and node.result.status is Status.DONE else None


def _read_raw_output(
    plan: Plan, nodes: Mapping[str, NodeStatus], readings: dict[Path, ResultFigures]
) -> Iterator[BrokenRecord]:
    """Read the results whose figures are not stored; those whose figures cannot be stored are added to `readings`."""
    for stage in plan.stages:
        result = _figures_of(nodes[stage.id])
        if result and result.folder not in readings and not figures_file(result.folder, stage.steps).exists():
            try:
                reading = read_figures(result, stage)
            except BrokenResult as error:
                yield BrokenRecord(stage.id, result.folder, str(error))
                continue
            if not figures_file(result.folder, stage.steps).exists():
                readings[result.folder] = reading


def _stored(result: Result, stage: PlannedStage) -> ResultFigures:
    return stored_figures(result.folder, stage.steps) or read_figures(result, stage)


def _complete(figures: ResultFigures, result: Path, stage: PlannedStage, stages: Stages) -> ResultFigures:
    """Add what depends on other results, and who signed a result of another checkout."""
    steps, imported = with_expected_rates(stage, stages, figures.steps), result / IMPORTED
    signer = {"signer": str(read_json(imported).get("signer") or "")} if imported.exists() else {}
    return replace(figures, steps=steps, environment=[*fact_rows("imported", None, signer), *figures.environment])


def read_figures(result: Result, stage: PlannedStage) -> ResultFigures:
    """Read the raw output of a result. BrokenResult: its files are not what was published, or cannot be read."""
    if sentence := changed_file(result):
        raise BrokenResult(sentence)
    figures = read_result(result, stage.steps)
    return replace(figures, steps=[_explain(result, *step) for step in enumerate(figures.steps)])


UNCHANGED = "its files did not change since they were published: please report this as a fault of stepgrid"


def _explain(result: Result, position: int, step: StepFigures) -> StepFigures:
    """Blame the parser for what it cannot read of a sound result; published results may state that a step failed."""
    if step.error is None or not result.files or (result.folders[position] / STATED).exists():
        return step
    return replace(step, error=f"{step.error}; {UNCHANGED}")


NEXT = "; the next run measures it again"


def quarantine(store: Store, broken: BrokenRecord) -> bool:
    """Move a damaged result to the attempts, unless another run goes on: its jobs may wait for the mark."""
    running = lock_holders(store.lock(RUN_LOCK))
    if running and os.getppid() not in running:  # a run starts the collecting itself, as a child
        return False
    try:
        with locked(store.lock(broken.node), wait=False):
            sentence = set_aside(store, broken, NEXT)
    except (LockBusy, OSError):
        return False
    if sentence:
        print(sentence, file=sys.stderr, flush=True)
    return True


# Keys that a step looks up and should find: what is expected follows from the steps before.


def with_expected_rates(stage: PlannedStage, stages: Stages, steps: Sequence[StepFigures]) -> list[StepFigures]:
    """Add the expected rate, and a warning to those that found fewer."""
    chain = _steps_from_empty(stage, stages) if any(hit_rate.FOUND in step.metrics for step in steps) else []
    rates = hit_rate.expected_percent(chain)[-len(steps) :] if chain else [None] * len(steps)
    return [_with_expected_rate(*parts) for parts in zip(stage.steps, steps, rates, strict=True)]


def _with_expected_rate(step: PlannedStep, figures: StepFigures, rate: float | None) -> StepFigures:
    if rate is None or hit_rate.FOUND not in figures.metrics:
        return figures
    metrics = {**figures.metrics, hit_rate.EXPECTED: rate}
    is_low = hit_rate.is_low(metrics, rate, step)
    warnings = [*figures.warnings, hit_rate.hit_warning(metrics, rate)] if is_low else figures.warnings
    return replace(figures, metrics=metrics, warnings=warnings)


def _steps_from_empty(stage: PlannedStage, stages: Stages) -> list[PlannedStep]:
    """List them from the empty database on; nothing where a stage is not known."""
    steps, parent = [*stage.steps], stage.parent
    while parent is not None:
        if parent not in stages:
            return []
        steps = [*stages[parent].steps, *steps]
        parent = stages[parent].parent
    return steps


# Expectations: a violated one voids the figures of its step; one of a checkpoint, of its load from there on.


def violations(plan: Plan, nodes: Mapping[str, NodeStatus]) -> dict[tuple[str, str, int], str]:
    """Map cell, stage and position of each step whose figures are void to the sentence that says why."""
    sentences: dict[tuple[str, str, int], str] = {}
    names = _MeasuredNames(plan, nodes)
    for cell in plan.cells:
        is_checked = any(step.expects or step.checkpoint_expects for step in cell.steps)
        for repeat in cell.repeats if is_checked else ():
            spoiled: dict[int, str] = {}  # by position of the stage that ends with the checkpoint
            for step in cell.steps:
                stage, index = repeat.stages[step.stage], step.index
                for sentence in names.violations(cell, step, stage, step.expects):
                    sentences.setdefault((cell.id, stage, index), sentence)
                for sentence in names.violations(cell, step, stage, step.checkpoint_expects):
                    spoiled.setdefault(step.stage, f"its checkpoint {sentence}")
            for step in cell.steps:
                reasons = [sentence for position, sentence in spoiled.items() if step.stage >= position]
                if reasons:
                    sentences.setdefault((cell.id, repeat.stages[step.stage], step.index), reasons[0])
    return sentences


class _MeasuredNames:
    """Names of expectations with the figures of results, which are read once."""

    def __init__(self, plan: Plan, nodes: Mapping[str, NodeStatus]) -> None:
        self._plan, self._nodes = plan, nodes
        self._stages = {stage.id: stage for stage in plan.stages}
        self._figures: dict[str, Sequence[StepFigures]] = {}

    def violations(
        self, cell: PlannedCell, cell_step: CellStep, node: str, expectations: Sequence[str]
    ) -> Iterator[str]:
        result = _figures_of(self._nodes[node]) if expectations else None
        if result is None:
            return
        stage = self._stages[node]
        if node not in self._figures:
            self._figures[node] = with_expected_rates(stage, self._stages, _stored(result, stage).steps)
        figures, step = self._figures[node][cell_step.index], stage.steps[cell_step.index]
        if figures.error is None:
            machine = self._plan.machines.get(stage.hardware, self._plan.hardware)
            labels = {**cell.labels, **cell_step.variables}
            names = names_of_step(step, labels, machine) | _measured_names(figures)
            yield from filter(None, (violation(text, names) for text in expectations))


def _measured_names(figures: StepFigures) -> dict[str, Any]:
    rows = [row["rows"] for row in figures.sizes if not row.get("index_name") and "rows" in row]
    state = {name: value for name, value in figures.start.items() if name in STATE and name != ROWS}
    counters = {name: value for _, name, value in figures.counts}
    return {
        **state,
        **({ROWS: sum(rows)} if rows else {}),
        **counted_figures(counters),
        **({INDEXES: used_indexes(figures.plans.values())} if figures.plans else {}),
        **figures.metrics,
        COUNTERS: Fields(counters),
    }


# Rows of the tables that do not grow with the results.


def _metric_rows(metrics: Mapping[str, Metric]) -> Rows:
    for name, metric in metrics.items():
        yield {
            "schema": result_schema.SCHEMA,
            "name": name,
            "unit": metric.unit,
            "better": metric.better,
            "definition": metric.definition,
            "measured_over": metric.window,
        }


def _column_rows(plan: Plan, metrics: Mapping[str, Metric]) -> Rows:
    """Describe each column of each table."""
    fixed = {
        "history": result_schema.HISTORY,
        "environment": result_schema.ENVIRONMENT,
        "metrics": result_schema.METRICS,
        "steps": result_schema.steps([axis.name for axis in plan.axes], metrics),
    }
    for table, types in {**GROWING, **fixed}.items():
        for column, kind in types.items():
            yield {"table_name": table, "column_name": column, "type": kind, **_meaning(table, column, metrics)}


def _meaning(table: str, column: str, metrics: Mapping[str, Metric]) -> parquet.Row:
    if (meaning := result_schema.MEANING[table].get(column)) is not None:
        return {"meaning": meaning}
    if (metric := metrics.get(column)) is not None:
        return {"unit": metric.unit, "meaning": metric.definition}
    axis = column.removeprefix("axis_")
    return {
        "meaning": f"label of the point of the axis {axis}; NULL: it does not change this step"
        if axis != column
        else None
    }


def environment_rows(store: Store, plan: Plan) -> Rows:
    """Facts of the plan, its builds, the options that they were asked for, retracted and disturbed results."""
    yield from _facts("plan", plan.digest, {"title": plan.title, "spec": plan.spec, "scale": plan.scale})
    yield from _facts("hardware", str(plan.hardware.get("id", "")), plan.hardware)
    for build in plan.builds:
        records = store.build_record(build.id)
        defaults = {name: option.default for name, option in (builds.read_catalogue(records) or {}).items()}
        record = builds.read_build_record(records)
        recorded = record.to_json().items() if record else ()
        facts = {name: value for name, value in recorded if value not in (None, "")}  # few of a published build
        yield from _facts("build", build.id, {"name": build.name, **facts})
        yield from _facts("default", build.id, defaults)
    for build_id, options in requested_options(plan.stages).items():
        yield from _facts("requested", build_id, options)
    for stage in plan.stages:
        for result in store.all_results(stage.id):
            if note := stage_requests.read_retraction(result):
                yield from _facts("retracted", f"{stage.id}/{result.name}", note.to_json())
            if attempt_record(result).warning:
                yield from _facts(result_schema.PAST_NOISE, f"{stage.id}/{result.name}", {"warning": "not quiet"})
    yield from _failures(store, plan)


def _failures(store: Store, plan: Plan) -> Rows:
    """Facts of failed attempts of stages, and of builds that are not made."""
    nodes = {*(stage.id for stage in plan.stages), *(b.id for b in plan.builds if not store.has_build(b.id))}
    for node in sorted(nodes & names_in(store.attempts_of("_").parent)):
        for attempt in store.attempts(node):
            if failure := failed_attempt(attempt):
                facts = {"step": failure.step, "message": failure.message, "log": failure.log, "line": failure.line}
                yield from _facts("failed attempt", f"{node}/{attempt.name}", facts)


def _facts(scope: str, subject: str, facts: Mapping[str, object]) -> Rows:
    for _, _, name, value in fact_rows(scope, None, facts):
        yield {"scope": scope, "subject": subject, "name": name, "value": value}


def requested_options(stages: Sequence[PlannedStage]) -> dict[str, dict[str, list[Value | None]]]:
    """Build -> option -> what its steps ask for; None is among it where some step leaves it to the build."""
    options_of: dict[str, dict[tuple[int, ...], Mapping[str, Option]]] = {}
    for stage in stages:
        for step in stage.steps:
            if step.kind != WITHOUT_OPTIONS:  # many steps have the same: they are looked at once
                parts = step.options.parts if isinstance(step.options, Options) else [step.options]
                options_of.setdefault(stage.build, {}).setdefault(tuple(map(id, parts)), step.options)
    return {build: _option_values(list(options.values())) for build, options in options_of.items()}


def _option_values(several: Sequence[Mapping[str, Option]]) -> dict[str, list[Value | None]]:
    values: dict[str, dict[str, Value | None]] = {}
    for name in dict.fromkeys(name for options in several for name in options):
        for options in several:
            value = options[name].value if name in options else None
            values.setdefault(name, {}).setdefault(repr(value), value)
    return {name: list(different.values()) for name, different in values.items()}


# Earlier results of the plan's own stages: how far equal arms come out apart. No other plan adds to them, as a verdict
# depends on its own experiment alone.

MOST = 400  # results that are read


def history_rows(store: Store, plan: Plan, attempts: Mapping[str, str | None]) -> Rows:
    """A row for each step of each result but those of `attempts`; `cell` is equal for the loads of one cell."""
    stages = {stage.id: stage for stage in plan.stages}
    for key, steps, result in islice(_older_results(store, plan, attempts), MOST):
        figures = _older_figures(result, stages[str(key["stage"])])
        host = attempt_record(result).host_name
        for step in steps:
            value = figures[step.index].metrics.get(QPS) if figures else None
            if value is not None:
                point = {**key, "cell": f"{key['cell']}/{step.index}", "attempt": result.name, "position": step.index}
                name, host_name = step.step or step.name, host
                yield {**point, "step": name, "kind": step.kind, "host": host_name, "qps": value}


def _older_results(
    store: Store, plan: Plan, attempts: Mapping[str, str | None]
) -> Iterator[tuple[parquet.Row, Sequence[CellStep], Path]]:
    """A stage that several cells share counts once."""
    shared: set[str] = set()
    for cell in plan.cells:
        for repeat in cell.repeats:
            for depth, stage in enumerate(repeat.stages):
                steps = [step for step in cell.steps if step.measured and step.stage == depth]
                if not steps or stage in shared:
                    continue
                shared.add(stage)
                first = cell.repeats[0].stages[depth]
                key = {"stage": stage, "cell": first, "load": repeat.load + 1, "run": repeat.run + 1}
                for result in store.results(stage):
                    if result.name != attempts.get(stage):
                        yield {**key, "restored": depth > 0}, steps, result


def _older_figures(folder: Path, stage: PlannedStage) -> Sequence[StepFigures]:
    try:
        result = load_result(folder, stage)
        return _stored(result, stage).steps if result.status is Status.DONE else ()
    except BrokenResult:
        return ()
