"""What a step's report says: rates over all clients, the published ones of the first alone, and histograms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.drivers.insert_benchmark import command
from stepgrid.drivers.insert_benchmark.parser import histogram, rates
from stepgrid.drivers.insert_benchmark.parser.report import Line, Report, read
from stepgrid.drivers.sysbench.parser import fatal
from stepgrid.drivers.sysbench.parser.step import OUTPUT
from stepgrid.drivers.sysbench.parser.step import read as read_output
from stepgrid.model.figures import Buckets, Figures, ParseError

# What the workload says. sysbench says more of the same before it, and cuts that off where it is long: within a line.
_OWN = re.compile(r"FATAL: `\w+' function failed: (.+)$", re.MULTILINE)
OPERATIONS = ("insert", "delete", "query")


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    found = read(folder)
    if settings["action"] == "check":
        return Figures({"seconds": found.seconds}, {})
    main = "query" if settings["action"] == "query" else "insert"
    intervals = _intervals(found, settings)
    metrics = {**_throughput(found, settings, main), **_longest(found), **_rates(intervals, main)}
    counts = histogram.merged(found.of("query"))
    return Figures(
        {**metrics, **_probe(found), **histogram.figures(counts)},
        _facts(found, settings),
        rates.of_all(intervals, main),
        histograms=_histograms(found, settings),
        rates=rates.of_clients(intervals),
    )


def _intervals(found: Report, settings: Mapping[str, Any]) -> Sequence[Line]:
    """None of the step that makes indexes: what its clients insert are the few rows before them."""
    return () if settings["action"] == "index" else found.intervals


def complaint(folder: Path) -> str | None:
    """Why a run failed, in its words."""
    try:
        text = read_output(folder / OUTPUT)
    except ParseError:
        return None
    own = _OWN.search(text)
    said = own[1] if own else fatal(text)
    return f"the insert benchmark failed: {said}" if said else None


def _throughput(found: Report, settings: Mapping[str, Any], main: str) -> dict[str, float]:
    if settings["action"] == "index":  # all rows of the tables, as published
        rows = float(sum(line["inserted"] - line["deleted"] for line in found.progress))
        rate = rows / found.seconds
        return {"seconds": found.seconds, "operations": rows, "qps": rate, "inserts_per_s": rate}
    named = {"insert": "inserts_per_s", "delete": "deletes_per_s"}
    done = {"operations": found.count(main), "seconds": found.span(OPERATIONS)}
    per_second = {name: found.rate(role) for role, name in named.items() if found.of(role)}
    return {**done, "qps": found.rate(main), **per_second, **_with_setup(found), **_target(found, settings)}


def _with_setup(found: Report) -> dict[str, float]:
    inserts = found.of("insert")
    ended = max((line["ended"] for line in inserts), default=found.started)
    return {"inserts_per_s_with_setup": found.count("insert") / (ended - found.started)} if inserts else {}


def _target(found: Report, settings: Mapping[str, Any]) -> dict[str, float]:
    """How far it was from the rate that was asked for: short by rows, or longer by seconds."""
    if settings["insert_rate"] is None:
        return {}
    short = 100 * (1 - found.rate("insert") / (settings["insert_rate"] * settings["clients"]))
    late = found.span(["insert"]) - settings["duration"]
    return {"insert_shortfall_pct": max(0.0, short), "lengthened_seconds": max(0.0, late)}


def _longest(found: Report) -> dict[str, float]:
    longest = {f"max_{name}_seconds": found.longest(name) for name in OPERATIONS}
    retries = {"retries": float(sum(line["retries"] for line in found.roles))} if found.roles else {}
    resyncs = {"min_id_resyncs": "resyncs", "min_id_resync_seconds": "resync_seconds"}
    deletes = found.of("delete")
    asked = {name: float(sum(line[key] for line in deletes)) for name, key in resyncs.items() if deletes}
    return {**{name: value for name, value in longest.items() if value is not None}, **retries, **asked}


def _rates(intervals: Sequence[Line], main: str) -> dict[str, float]:
    said = dict[str, float]()
    if series := rates.of_all(intervals, main):
        said["median_qps"] = rates.reached(series, 50)
    if inserts := rates.of_all(intervals, "insert"):
        said["median_inserts_per_s"] = rates.reached(inserts, 50)
        said["worst_inserts_per_s_p99"] = rates.reached(inserts, 99)
    return {**said, **rates.of_first_client(intervals, main)}


def _probe(found: Report) -> dict[str, float]:
    longest = max((float(line["seconds"]) for line in found.probes), default=None)
    return {} if longest is None else {"min_id_probe_seconds": longest}


def _facts(found: Report, settings: Mapping[str, Any]) -> dict[str, str]:
    if settings["action"] != "query":
        return {}
    return {"ended": "by the clock" if command.ends_by_clock(settings) else "when the rows were in"}


def _histograms(found: Report, settings: Mapping[str, Any]) -> list[Buckets]:
    """A query's by its kind."""
    names = {name: str(settings["query"]) if name == "query" else name for name in OPERATIONS}
    counts = {name: histogram.merged(found.of(name)) for name in OPERATIONS}
    return [histogram.whole(names[name], counts[name]) for name in OPERATIONS if counts[name]]
