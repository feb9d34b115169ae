"""A plan's report, from its tables to its files."""

from __future__ import annotations

import sys
from dataclasses import replace

from stepgrid.host.files import write_text
from stepgrid.plan import plan_file
from stepgrid.store import stage_requests
from stepgrid.store.paths import STEPS_TABLE
from stepgrid.store.plans import EarlierPlan
from stepgrid.store.store import Store, revision
from stepgrid.summarize import previous_report
from stepgrid.summarize.data import tables_reader
from stepgrid.summarize.data.load_costs import LoadCosts, load_costs
from stepgrid.summarize.notes.arm_settings import arm_settings
from stepgrid.summarize.notes.common_settings import common_settings
from stepgrid.summarize.notes.step_settings import step_settings
from stepgrid.summarize.page import html, summary_text
from stepgrid.summarize.report import Report, report


def write_stamped(store: Store, plan: str) -> Report:
    """Write the report of a plan's tables, and note which code wrote it."""
    found = read(store, plan)
    write(store, found)
    store.stamp_report(plan, revision())
    return found


def missing_input(store: Store, plan: str) -> str | None:
    if not (store.plan(plan) / plan_file.HEADER).is_file():
        return f"there is no plan {plan} under {store.root}/plans; start a run first"
    if not (store.tables(plan) / STEPS_TABLE).is_file():
        return f"the tables of plan {plan} are missing; first: python -m stepgrid.pipeline collect {plan}"
    return None


def read(store: Store, plan: str) -> Report:
    header = plan_file.read_header(store.plan(plan))
    axes = [axis.name for axis in header.axes]
    folder = store.tables(plan)
    found = tables_reader.load(folder, axes)
    until = header.until
    costs = load_costs(store, header) if until and until.within is not None else LoadCosts()
    made = report(header, found, costs)
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
