"""A plan's report, from its tables to its files."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from stepgrid.host.files import retry_stale, write_text
from stepgrid.plan import plan_file
from stepgrid.plugins.registry import PluginError
from stepgrid.store import stage_requests
from stepgrid.store.active_run import DiskFull, is_system_refusal, with_reserve
from stepgrid.store.paths import STEPS_TABLE
from stepgrid.store.plans import EarlierPlan
from stepgrid.store.store import Store, revision
from stepgrid.summarize import previous_report
from stepgrid.summarize.data import parquet_reader, table_inputs
from stepgrid.summarize.data.load_costs import LoadCosts, load_costs
from stepgrid.summarize.notes.arm_settings import arm_settings
from stepgrid.summarize.notes.common_settings import common_settings
from stepgrid.summarize.notes.step_settings import step_settings
from stepgrid.summarize.page import html, summary_text
from stepgrid.summarize.report import Report, report


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m stepgrid.summarize", description="Writes a plan's report.")
    parser.add_argument("plan", help="digest of a plan under outputs/plans/, collected before")
    parser.add_argument("--partial", action="store_true", help="some results may be missing")
    options = parser.parse_args(arguments)
    store = Store()
    if problem := _unready(store, options.plan):
        print(f"summarize: {problem}", file=sys.stderr)
        return 1
    try:
        found = with_reserve(store, lambda: retry_stale(lambda: _written(store, options.plan)))
    except (DiskFull, PluginError) as error:
        print(f"summarize: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # of a disk that fails, or a folder that is no folder
        if not is_system_refusal(error):
            raise
        print(f"summarize: the system refused: {error}", file=sys.stderr)
        return 1
    _warn(found, options.partial)
    return 0


def _written(store: Store, plan: str) -> Report:
    found = read(store, plan)
    write(store, found)
    store.stamp_report(plan, revision())
    return found


def _warn(found: Report, partial: bool) -> None:
    if found.status.incomplete and not partial:
        print(
            f"summarize: {found.status.incomplete} of {found.status.total} measured steps have no figures; "
            "the report says so on top. Run again to measure them.",
            file=sys.stderr,
        )


def _unready(store: Store, plan: str) -> str | None:
    if not (store.plan(plan) / plan_file.HEADER).is_file():
        return f"there is no plan {plan} under {store.root}/plans; start a run first"
    if not (store.tables(plan) / STEPS_TABLE).is_file():
        return f"the tables of plan {plan} are missing; first: python -m stepgrid.collect {plan}"
    return None


def read(store: Store, plan: str) -> Report:
    header = plan_file.read_header(store.plan(plan))
    axes = [axis.name for axis in header.axes]
    folder = store.tables(plan)
    found = parquet_reader.load(folder, axes)
    until = header.until
    costs = load_costs(store, header) if until and until.within is not None else LoadCosts()
    made = report(header, found, table_inputs.load(folder, header.report.tables, found), costs)
    links = EarlierPlan(store.plan(plan), header).links
    settings = tuple(arm_settings(header.cells, made.axes, links))
    return replace(
        made,
        settings=settings,
        common=tuple(common_settings(header.cells, made.axes, links, settings)),
        steps=tuple(step_settings(header.cells, made.axes, links)),
    )


def write(store: Store, found: Report) -> None:
    """The text comes last: where it is, all is."""
    where = summary_text.page_path(store, found.plan)
    write_text(where, html.page(found))
    _request_loads(store, found)
    for line in previous_report.differences(store.verdicts(found.plan), found, revision()):
        print(line, file=sys.stderr)
    write_text(summary_text.path(store, found.plan), summary_text.text(found, where))


def _request_loads(store: Store, found: Report) -> None:
    """Of what is undecided: the next plan of the spec has them."""
    if asked := found.load_requests:
        cells = plan_file.read_header(store.plan(found.plan)).cells
        last = {cell.id: cell.repeats[0].stages[-1] for cell in cells}
        for cell, loads, why in asked:
            stage_requests.request_loads(store, last[cell], loads, why)
