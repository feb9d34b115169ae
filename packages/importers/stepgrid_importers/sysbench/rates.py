"""A run's rate of operations as the scripts have it: queries per second; of a full scan, thousands of rows.

They have called three figures the QPS of a scan, each by a definition of its time. Ours beside them counts all rows
that all clients read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from stepgrid_databases.drivers.sysbench.output import Summary
from stepgrid_importers.sysbench.runs import RATE, Run, published


def scanned(run: Run) -> Scan | None:
    """None of what is no scan, or does not say of how much."""
    report = run.output.report
    return scan(run.output.command, report) if run.test.scans and report else None


def definition(run: Run, found: Scan) -> str:
    figures = published(run)
    return scan_definition(found, float(figures[-1]) if figures else None)


def rate(run: Run) -> str | None:
    """As it is printed; None where the run failed, or was a scan of an unknown number of rows."""
    if run.output.report is None:
        return None if run.output.failure else run.cells.get(RATE)
    if not run.test.scans:
        return run.output.report.rated["queries"].text
    found = scanned(run)
    value = DEFINITIONS[definition(run, found)](found) if found else None
    return None if value is None else f"{value:.0f}"


# Three definitions of a scan's figure

THOUSAND = 1000

_OPTION = re.compile(r"--(?P<name>tables|table-size|events)=(?P<value>\d+)")


class Scan(Struct, frozen=True):
    tables: int
    rows: int  # of each table
    events: int  # asked for; 0: it ran for a time
    report: Summary


def scan(command: str, report: Summary) -> Scan | None:
    """None where the command does not say how large the tables are."""
    options = {match["name"]: int(match["value"]) for match in _OPTION.finditer(command)}
    if not {"tables", "table-size"} <= options.keys() or not report.seconds:
        return None
    return Scan(options["tables"], options["table-size"], options.get("events", 0), report)


def by_event(found: Scan) -> float | None:
    """2024: the rows of all tables over the time, as if each event were a scan. It was 50."""
    return found.tables * found.rows / found.report.seconds / THOUSAND if found.report.seconds else None


def of_all(found: Scan) -> float | None:
    """Early 2025: of all clients together."""
    return found.rows * found.report.rated["queries"].per_second / THOUSAND


def of_one(found: Scan) -> float | None:
    """Since late 2025: of one client, from the mean latency of a scan."""
    mean = found.report.latency.get("avg")
    return found.rows / THOUSAND / (mean / 1000) if mean else None


DEFINITIONS: Mapping[str, Callable[[Scan], float | None]] = {
    "by event (2024)": by_event,
    "of all clients (early 2025)": of_all,
    "of one client (since late 2025)": of_one,
}
BY_EVENT, OF_ALL, OF_ONE = DEFINITIONS


def scan_definition(found: Scan, published: float | None) -> str:
    """The one that gives what was published; where nothing tells, the newest that fits how it was run."""
    for name, figure in DEFINITIONS.items():
        value = figure(found)
        if published and value is not None and abs(value / published - 1) < 1e-3:
            return name
    return BY_EVENT if found.events else OF_ONE


def rows_per_s(found: Scan) -> float:
    """Rows per second, all that all clients read: a query is a scan of one table."""
    return found.rows * found.report.rated["queries"].per_second
