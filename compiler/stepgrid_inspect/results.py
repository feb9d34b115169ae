"""stepgrid results, redo, retract and plans: which results and plans there are, which count, what is measured again."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from stepgrid.cli.failures import CommandError, unless_busy
from stepgrid.cli.output import ROW_FORMATS, format_rows
from stepgrid.cli.spec_arguments import add_cells, add_site, check_steps, quiet_plan, select_cells, use_site
from stepgrid.errors import FINE
from stepgrid.host.locks import locked
from stepgrid.model.plan import STAGE_PREFIX, Plan, PlannedCell, is_imported
from stepgrid.model.status import Action, ActiveWork, NodeStatus, Status
from stepgrid.model.units import counted, duration
from stepgrid.plan import plan_file
from stepgrid.store import paths, plans, stage_requests
from stepgrid.store.attempts import attempt_end, attempt_record
from stepgrid.store.paths import RESULT_FILE, RUN_LOCK
from stepgrid.store.plans import StoredPlan
from stepgrid.store.results import result_record
from stepgrid.store.stage_requests import read_retraction
from stepgrid.store.status import StatusReader
from stepgrid.store.store import Store
from stepgrid.summarize import formats
from stepgrid.summarize.formats import aligned
from stepgrid.workflow import host_plan

SHOWN_STAGES = 10
NOT_QUIET = "the host was not quiet"  # the default reason of `redo --disturbed`
SHOWN_DIGITS = 12  # of a plan's digest in a table: its beginning names it everywhere
PLAN_COLUMNS = ("plan", "spec", "scale", "made", "cells", "measured", "stages", "last result")
MINUTES = "%Y-%m-%d %H:%M"


def add_results_arguments(parser: argparse.ArgumentParser) -> None:
    add_cells(parser, "a cell's id, or labels that single it out (all cells)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people, or as a JSON list")


def run_results(args: argparse.Namespace) -> int:
    plan = quiet_plan(args)
    stages = select_stages(select_cells(plan, args.cells), load=True)
    store = host_plan.store()
    if args.format == "json":
        print(formats.json_text(results_json(store, plan, stages)))
    else:
        print("\n".join(_result_lines(store, plan, stages)) or "nothing was measured yet")
    return FINE


def results_json(store: Store, plan: Plan, stages: Sequence[str]) -> list[dict[str, object]]:
    return [
        {
            "stage": node.id,
            "title": node.title,
            "state": node.status,
            "tried": [attempt.to_json() for attempt in attempts],
            "again": (request := stage_requests.pending_redo(store, node.id)) and request.to_json(),
        }
        for node, attempts in _attempts(store, plan, stages)
    ]


def _attempts(store: Store, plan: Plan, stages: Sequence[str]) -> Iterator[tuple[NodeStatus, list[PastAttempt]]]:
    nodes = StatusReader(store, plan).read().nodes
    return ((nodes[stage], past_attempts(store, nodes[stage])) for stage in stages)


def _result_lines(store: Store, plan: Plan, stages: Sequence[str]) -> Iterator[str]:
    for node, attempts in _attempts(store, plan, stages):
        if attempts:
            yield f"{node.id}  {node.status}  {node.title}"
            yield from aligned(map(_attempt_row, attempts), right=[3])
            warnings = [text for attempt in attempts if attempt.standing == COUNTS for text in attempt.warnings]
            yield from (f"  note  {text}" for text in dict.fromkeys(warnings))
            if node.action is Action.REDO:
                yield f"  again  {node.why}"


def _attempt_row(attempt: PastAttempt) -> tuple[str, ...]:
    started = (attempt.started or "").replace("T", " ")[:19]
    seconds = "" if attempt.seconds is None else duration(attempt.seconds)
    status = attempt.status if attempt.status not in (None, "done") else ""
    message = ": ".join(part for part in (status, attempt.message) if part)
    return attempt.standing, attempt.folder.name, started, seconds, attempt.host or "", message


def add_redo_arguments(parser: argparse.ArgumentParser) -> None:
    add_cells(parser, "a cell's id, or labels that single it out: cache=lru,threads=1 (all cells)")
    parser.add_argument("--step", action="append", default=[], metavar="NAME", help="only the stages of this step")
    parser.add_argument(
        "--load", action="store_true", help="also the load and all stages of these cells that follow it"
    )
    parser.add_argument(
        "--disturbed",
        action="store_true",
        help="only loads whose host was not quiet before a stage, each load as a whole",
    )
    parser.add_argument("--why", default="", metavar="TEXT", help="a reason, stored beside the results")
    parser.add_argument("--undo", action="store_true", help="cancel the requests that are not measured yet")


def run_redo(args: argparse.Namespace) -> int:
    plan, store = quiet_plan(args), host_plan.store()
    cells = select_cells(plan, args.cells)
    check_steps(plan, args.step)
    if args.undo:
        stages = select_stages(cells, args.step, args.load or args.disturbed or not args.step)
        pending = stage_requests.pending_redos(store, stages)
        for stage in pending:
            stage_requests.withdraw_redo(store, stage)
        print(f"{counted(len(pending), 'stage')} no longer asked for" if pending else "nothing was asked for")
        return FINE
    selected = select_stages(cells, args.step, args.load or args.disturbed)
    origins = {stage.id: stage.origin for stage in plan.stages if stage.origin}
    stages = [stage for stage in selected if stage not in origins]
    if imported_stages := len(selected) - len(stages):
        print(f"{counted(imported_stages, 'stage')} imported as loads of other hosts: not measured again here")
    if args.disturbed:
        stages = _disturbed_loads(store, plan, stages)
        if not stages:
            print("the host was quiet before each of these stages that has a result")
            return FINE
    print("\n".join(_request_lines(store, plan, stages, args.why or (NOT_QUIET if args.disturbed else ""))))
    return FINE


def _disturbed_loads(store: Store, plan: Plan, stages: Sequence[str]) -> list[str]:
    """Return all stages of disturbed loads: arms are compared load by load, and a load must not lie hours apart."""
    loads = {stage.id: stage.load for stage in plan.stages}
    disturbed: set[int] = set()
    for stage in stages:
        if (result := store.result(stage)) is not None:
            disturbed.update({loads[stage]} if attempt_record(result).warning else ())
    return [stage for stage in stages if loads[stage] in disturbed]


def _request_lines(store: Store, plan: Plan, stages: Sequence[str], reason: str) -> Iterator[str]:
    """Request that the next run measures the stages again."""
    results = {stage: result for stage in stages if (result := store.result(stage)) is not None}
    last = [f"{stage}/{result.name}" for stage, result in results.items() if result.name == paths.LAST_TIME]
    repeated = [stage for stage, result in results.items() if result.name != paths.LAST_TIME]
    for stage in repeated:
        stage_requests.request_redo(store, stage, reason)
    if repeated:
        titles = {stage.id: stage.title for stage in plan.stages}
        yield f"the next run measures {counted(len(repeated), 'stage')} again, beside the results that are there:"
        yield from aligned([(stage, titles[stage]) for stage in repeated[:SHOWN_STAGES]])
        if len(repeated) > SHOWN_STAGES:
            yield f"  … and {len(repeated) - SHOWN_STAGES:,} more"
    if len(results) < len(stages):
        yield f"{counted(len(stages) - len(results), 'stage')} without a result: measured in any case"
    for name in last:
        yield f"{name} would stay the newest result, as no time is later: `stepgrid retract {name} --why TEXT`"


def add_retract_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT", help="a result's folder, or STAGE/TIME as in `stepgrid results`")
    parser.add_argument("--why", metavar="TEXT", help="the reason; the report prints it")
    parser.add_argument("--undo", action="store_true", help="include the result again")
    add_site(parser)


def run_retract(args: argparse.Namespace) -> int:
    use_site(args)
    store = host_plan.store()
    result = _named_result(store, args.result)
    sentence = "a run is active in this checkout (pid {}): nothing was changed; try again later"
    with unless_busy(sentence), locked(store.lock(RUN_LOCK), wait=False):
        print(_undo_retraction(store, result) if args.undo else _retract(store, result, args.why))
    return FINE


def _named_result(store: Store, name: str) -> Path:
    """Find a result by the last two parts of its path: its stage, and when it was measured."""
    parts = Path(name).parts
    if parts and parts[-1] == RESULT_FILE:
        parts = parts[:-1]
    results = store.all_results(parts[-2]) if len(parts) > 1 and parts[-2].startswith(STAGE_PREFIX) else []
    for result in results:
        if result.name == parts[-1]:
            return result
    raise CommandError(f"there is no result {name}: `stepgrid results SPEC` lists them, as STAGE/TIME")


def _retract(store: Store, result: Path, reason: str | None) -> str:
    if not (reason or "").strip():
        raise CommandError("say why: the report does, beside the figures that are left")
    if note := stage_requests.read_retraction(result):
        raise CommandError(f"{result} is no result that counts: {note.sentence}")
    stage_requests.retract(store, result, str(reason))
    newest = store.result(result.parent.name)
    if newest is None:
        return f"{result} counts no more: its stage has no other, so the next run measures it"
    return f"{result} counts no more: {newest.name} {'counts again' if newest.name < result.name else 'is newer'}"


def _undo_retraction(store: Store, result: Path) -> str:
    if stage_requests.read_retraction(result) is None:
        raise CommandError(f"{result} was not retracted")
    stage_requests.undo_retraction(store, result)
    is_newest = store.result(result.parent.name) == result
    return f"{result} counts again" if is_newest else f"{result} is no longer retracted; a newer one counts"


def add_plans_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", nargs="?", help="only those of this spec")
    parser.add_argument("--format", choices=ROW_FORMATS, default="text", help="the output format (text)")
    add_site(parser)


def run_plans(args: argparse.Namespace) -> int:
    use_site(args)
    store, spec = host_plan.store(), args.spec and host_plan.spec_name(args.spec)
    stored = plans.stored_plans(store)
    rows = [row for plan in stored if spec in (None, plan.spec) for row in _plan_rows(store, plan)]
    if rows or args.format != "text":
        is_table = args.format == "text"
        cut_rows = [(digest[:SHOWN_DIGITS], *fields) for digest, *fields in rows] if is_table else rows
        print(format_rows(args.format, PLAN_COLUMNS, cut_rows), end="")
    else:
        print(f"no plan{f' of {spec}' if spec else ''} is stored")
    return FINE


def _plan_rows(store: Store, plan: StoredPlan) -> Iterator[tuple[Any, ...]]:
    """Yield the plan's row, or none if it cannot be read."""
    with suppress(*plan_file.DAMAGED):
        compiled = plan_file.read(plan.folder)
        results = [result.name for stage in compiled.stages if (result := store.result(stage.id))]
        last = datetime.strptime(max(results), "%Y%m%dT%H%M%S.%fZ").strftime(MINUTES) if results else None
        creation = datetime.fromtimestamp(plan.time, UTC).strftime(MINUTES)
        spec = plan.spec.removeprefix("import ") if is_imported(plan.spec) else plan.spec
        yield plan.digest, spec, plan.scale, creation, len(compiled.cells), len(results), len(compiled.stages), last


COUNTS = "counts"


class PastAttempt(Struct, frozen=True):
    folder: Path
    standing: str  # of a result: counts, older, retracted, broken; of an attempt: failed, interrupted, running, waiting
    status: str | None = None  # of a result: done, unsupported
    started: str | None = None
    seconds: float | None = None
    host: str | None = None
    message: str = ""  # why it was retracted, or failed, or is unsupported
    warnings: tuple[str, ...] = ()  # of its steps, with their names

    def to_json(self) -> dict[str, object]:
        record = asdict(self) | {"folder": str(self.folder), "said": self.message}
        del record["message"]
        return record


def past_attempts(store: Store, node: NodeStatus) -> list[PastAttempt]:
    counting = node.result.folder if node.result else None
    attempts = [_past_result(folder, counting) for folder in store.all_results(node.id)]
    attempts += [_past_attempt(folder, node.work) for folder in store.attempts(node.id)]
    return sorted(attempts, key=lambda attempt: attempt.folder.name)


def _past_result(folder: Path, counting: Path | None) -> PastAttempt:
    record, retraction = result_record(folder), read_retraction(folder)
    if retraction:
        standing = "retracted"
    elif folder == counting:
        standing = COUNTS
    else:
        standing = "broken" if counting is None or folder.name > counting.name else "older"
    message, host = retraction.sentence if retraction else "", attempt_record(folder).host_name
    if record is None:
        return PastAttempt(folder, standing, host=host, message=message)
    warnings = tuple(f"{step.name}: {text}" for step in record.steps for text in step.warnings)
    message = message or record.reason or ""
    return PastAttempt(folder, standing, record.status, record.started, record.seconds, host, message, warnings)


def _past_attempt(folder: Path, work: ActiveWork | None) -> PastAttempt:
    record, end = attempt_record(folder), attempt_end([folder])
    standing, message = (str(end.status), end.sentence) if end else ("", "")
    if work and work.attempt == folder:
        standing, message = Status.WAITING if work.waits else Status.RUNNING, ""
    return PastAttempt(folder, standing, started=record.started or None, host=record.host_name, message=message)


def select_stages(cells: Iterable[PlannedCell], steps: Collection[str] = (), load: bool = False) -> list[str]:
    """List stages of every repeat of these cells, in order: of the named steps, else all that follow the load.

    `load`: include the load, and all that starts from it in these cells."""
    return list(dict.fromkeys(stage for cell in cells for stage in _cell_stages(cell, steps, load)))


def _cell_stages(cell: PlannedCell, steps: Collection[str], load: bool) -> Iterator[str]:
    positions = {step.stage for step in cell.steps if step.names & {*steps}}
    if steps and not positions:
        return
    for repeat in cell.repeats:
        first = 0 if len(repeat.stages) == 1 else 1  # without a checkpoint the load is the only stage
        for position, stage in enumerate(repeat.stages):
            if load or (position in positions if steps else position >= first):
                yield stage
