"""Clean figures of the steps of each configuration, with the seconds of its probes, and published figures that differ.

They are of a step's raw files where they are there, else what a published row holds of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from stepgrid.collect.series import series_figures
from stepgrid.model.figures import LATENCY_LIMITS, Bucket, Buckets, ClientRate, Figures, by_column
from stepgrid.model.records import replace
from stepgrid_importers.insert_benchmark import metric_rows, steps
from stepgrid_importers.insert_benchmark.folder import Records
from stepgrid_importers.insert_benchmark.metric_rows import Sum
from stepgrid_importers.insert_benchmark.raw_files import (
    DELETES,
    INSERTS,
    KINDS,
    MAX,
    QUERIES,
    Client,
    Outcome,
    RawRun,
)
from stepgrid_importers.insert_benchmark.tables import NONE, PROBE_STEPS, short
from stepgrid_importers.shared import iostat, vmstat
from stepgrid_importers.shared.awk import number
from stepgrid_published.importer import ImportedStep, RecomputedFigure

ROWS = "rows"  # an axis: how many there were, as the tag has it
UNKNOWN = "unknown"
_ROWS = re.compile(r"(\d+m)\.")


def measured(found: Records) -> list[ImportedStep]:
    """A probe at the start of a step that is here as well is a figure of that step."""
    each = metric_rows.sums(found)
    listed = {(one.tag, one.step): _step(one, metric_rows.clients(each, one.tag)) for one in each}
    for tag, step, seconds, source in _probes(found):
        known = listed.get((tag, step)) or ImportedStep(short(tag), step, source=source)
        metrics = {**known.figures.metrics, PROBE: seconds}
        listed[tag, step] = replace(known, figures=replace(known.figures, metrics=metrics))
    usual = _usual(found)
    rows = {tag: _rows(tag) or usual for tag, _ in listed}
    several = len(set(rows.values())) > 1
    return [replace(one, labels={ROWS: rows[tag]}) if several else one for (tag, _), one in listed.items()]


def figures(one: Sum, clients: int | None) -> Figures:
    return of_raw(one.raw, one.step) if one.raw else of_row(one.cells, one.step, clients)


def _step(one: Sum, clients: int | None) -> ImportedStep:
    found = figures(one, clients)
    host = {"kernel": one.raw.kernel, "cores": one.raw.cores} if one.raw else {}
    return ImportedStep(
        build=short(one.tag),
        step=one.step,
        figures=found,
        files=one.raw.files if one.raw else (),
        source="" if one.line is None or one.raw else f"{one.path.name}:{one.line}",
        seconds=found.metrics.get("seconds"),
        host={name: value for name, value in host.items() if value is not None},
    )


def _usual(found: Records) -> str:
    """Merges leave out how many rows there were: those of the summaries beside them, where these agree."""
    said = {rows for tag in metric_rows.summaries(found) if (rows := _rows(tag))}
    return said.pop() if len(said) == 1 else UNKNOWN


def _probes(found: Records) -> Iterator[tuple[str, str, float, str]]:
    for path, probes in found.probes.items():
        for one in sorted(probes, key=lambda each: each.line):
            for step, seconds in zip(PROBE_STEPS, one.seconds, strict=True):
                yield one.tag, step, float(seconds), f"{path.name}:{one.line}"


def _rows(tag: str) -> str | None:
    found = _ROWS.match(tag)
    return found[1] if found else None


# Figures of a step

GIB, KIB = 2.0**30, 1024.0
PROBE, WITH_SETUP = "min_id_probe_seconds", "inserts_per_s_with_setup"
_HELD: Mapping[str, tuple[str, float]] = {  # column of either generation -> our metric, and what one of it is of that
    "ips": ("inserts_per_s", 1),
    "rps": ("device_reads_per_s", 1),
    "rmbps": ("device_read_mb_per_s", 1),
    "rkbps": ("device_read_mb_per_s", 1 / KIB),
    "wps": ("device_writes_per_s", 1),
    "wmbps": ("device_write_mb_per_s", 1),
    "wkbps": ("device_write_mb_per_s", 1 / KIB),
    "rpq": ("reads_per_op", 1),
    "rkbpq": ("read_kb_per_op", 1),
    "wpi": ("writes_per_insert", 1),
    "wkbpi": ("write_kb_per_insert", 1),
    "csps": ("context_switches_per_s", 1),
    "cpups": ("host_cpu_busy_pct", 1),
    "cspq": ("context_switches_per_op", 1),
    "cpupq": ("host_cpu_us_per_op", 1),
    "dbgb": ("tables_bytes", GIB),
    "dbgb1": ("tables_bytes", GIB),
    "dbgb2": ("database_bytes", GIB),
    "vsz": ("server_virtual_bytes", GIB),
    "rss": ("server_rss_bytes", GIB),
    "maxop": ("max_us", 1e6),
    "p50": ("first_client_p50_rate", 1),
    "p99": ("first_client_p99_rate", 1),
}
_ROUNDED = "figures of a published row: rounded as it prints them, per second of the first client in p50 and p99"


def of_row(cells: Mapping[str, str], step: str, clients: int | None) -> Figures:
    known = {name: cells[name] for name in _HELD if cells.get(name, NONE) not in ("", NONE)}
    found = {_HELD[name][0]: number(cell) * _HELD[name][1] for name, cell in known.items()}
    rated = "ips" if steps.asked(step) is None else "qps"  # the column of what the step does: rows, where it inserts
    rate = {"qps": number(cells[rated])} if rated in cells else {}
    rate |= {WITH_SETUP: found["inserts_per_s"]} if "inserts_per_s" in found else {}
    return Figures(found | rate | target(step, clients), {"precision": _ROUNDED})


def target(step: str, clients: int | None) -> dict[str, float]:
    each = steps.asked(step)
    return {"target_inserts_per_s": float(each * clients)} if each is not None and clients else {}


def of_raw(raw: RawRun, step: str) -> Figures:
    query = steps.asked(step) is not None
    found = _throughput(raw, query) | target(step, int(number(raw.outcome.first["clients"])))
    found |= _sizes(raw.outcome) | _host(raw, found["qps" if query else "inserts_per_s"])
    most = longest(raw.clients, "Query" if query else "Insert")
    found |= longest_times(raw.clients) | ({} if most is None else {"max_us": most * 1e6})
    found |= {PROBE: first} if raw.clients and (first := raw.clients[0].probe) is not None else {}
    found |= _as_published(raw.outcome, "query" if query else "insert")
    rates = series(raw.clients, QUERIES if query else INSERTS)
    return Figures(found, {}, rates, histograms=buckets(raw.clients), rates=client_rates(raw.clients))


def _as_published(found: Outcome, kind: str) -> dict[str, float]:
    """What the published rules make of the step, beside what ours do."""
    said = {f"first_client_p{of}_rate": found.rates.get(of, {}).get(kind, NONE) for of in ("50", "99")}
    rates = {name: number(rate) for name, rate in said.items() if rate not in ("", NONE)}
    return {WITH_SETUP: number(found.first["ips"]), **rates}


def series(clients: Sequence[Client], column: str) -> list[tuple[float, float]]:
    """Of all clients together, as long as all of them ran."""
    rows = zip(*(client.intervals for client in clients), strict=False)
    return [(float(row[0]["t_sec"]), sum(float(each[column]) for each in row)) for row in rows]


def _throughput(raw: RawRun, query: bool) -> dict[str, float]:
    """By the clients' own clocks; o.res has their start and end in its seconds."""
    first = raw.outcome.first
    found = {"inserts_per_s": _rate(raw.clients, "t_ins") or number(first["ips"]), "seconds": number(first["seconds"])}
    found["qps"] = (_rate(raw.clients, "t_query") or number(first["qps"])) if query else found["inserts_per_s"]
    if deleted := _rate(raw.clients, "t_del"):
        found["deletes_per_s"] = deleted
    rates = sorted(value for _, value in series(raw.clients, QUERIES if query else INSERTS))
    return found | ({"median_qps": rates[len(rates) // 2]} if rates else {})


def _rate(clients: Sequence[Client], column: str) -> float:
    """Until the last client was through; 0 where one did not print how far it was."""
    last = [client.intervals[-1] for client in clients if client.intervals]
    seconds = max((float(each["t_sec"]) for each in last), default=0.0)
    if not seconds or len(last) < len(clients):
        return 0.0
    return sum(float(each[column]) for each in last) / seconds


def _sizes(found: Outcome) -> dict[str, float]:
    said = {"tables_bytes": "dbGB", "database_bytes": "dbdirGB"}
    sizes = {name: number(found.sizes[what]) * GIB for name, what in said.items() if what in found.sizes}
    held = {"server_rss_bytes": "resident", "server_virtual_bytes": "virtual"}
    memory = {name: [number(each[what]) * KIB for each in found.processes] for name, what in held.items()}
    return sizes | {name: max(each) for name, each in memory.items() if each}


def _host(raw: RawRun, rate: float) -> dict[str, float]:
    found = iostat.figures(raw.device) if raw.device else {}
    if raw.vmstat is None:
        return found
    found |= vmstat.figures(raw.vmstat)
    means = vmstat.clean(raw.vmstat)
    if rate:
        found["context_switches_per_op"] = means.switches / rate
    if rate and raw.cores:
        found["host_cpu_us_per_op"] = means.busy / 100 * raw.cores * 1e6 / rate
    return found


# Rates of each client by the second, and the longest statement of each kind

_COLUMNS = {"insert": (INSERTS, "max_i"), "delete": (DELETES, "max_d"), "query": (QUERIES, "max_q")}


def client_rates(clients: Sequence[Client]) -> list[ClientRate]:
    """Of the operations that the step had: all clients print columns of those, too, that it had none of."""
    return [rate for columns in _COLUMNS.items() for rate in _rates_of(clients, *columns)]


def _rates_of(clients: Sequence[Client], operation: str, columns: tuple[str, str]) -> Iterator[ClientRate]:
    column, longest_column = columns
    if any(float(row[column]) for client in clients for row in client.intervals):
        for number, client in enumerate(clients):
            for row in client.intervals:
                most = float(row.get(longest_column, 0)) or None  # 0: no statement ended in the interval
                yield ClientRate(number, float(row["t_sec"]), operation, float(row[column]), most)


# Response times of all clients: a histogram and the longest of each kind of statement


def longest(clients: Sequence[Client], kind: str) -> float | None:
    """Seconds."""
    return max((number(each.times[kind][MAX]) for each in clients if kind in each.times), default=None)


def longest_times(clients: Sequence[Client]) -> dict[str, float]:
    """Of the kinds that there were any of."""
    kinds = (kind for kind in KINDS if any(_counts(clients, kind).values()))
    found = {f"max_{kind.lower()}_seconds": longest(clients, kind) for kind in kinds}
    return {name: seconds for name, seconds in found.items() if seconds is not None}


def buckets(clients: Sequence[Client]) -> list[Buckets]:
    return by_column(bucket for kind in KINDS for bucket in _buckets(clients, kind))


def _buckets(clients: Sequence[Client], kind: str) -> Iterator[Bucket]:
    """The last ends where the longest is."""
    counts, least = _counts(clients, kind), 0.0
    for name, limit in LATENCY_LIMITS.items():
        most = limit if name != "gt" else max(least + 1, 1e6 * (longest(clients, kind) or 0.0))
        if counts.get(name):
            yield kind.lower(), least, most, counts[name]
        least = most


def _counts(clients: Sequence[Client], kind: str) -> Mapping[str, int]:
    found = [each.times[kind] for each in clients if kind in each.times]
    return {name: sum(int(each.get(name, 0)) for each in found) for name in LATENCY_LIMITS}


# Published figures that are made by a rule that is not ours: what stands there, and what we have

RATES, BANNERS, WALL = "p50 and p99", "csps, cpups, cspq and cpupq", "ips and qps"
_DIFFERING: Mapping[str, tuple[str, str]] = {
    "ips": ("inserts_per_s", WALL),
    "qps": ("qps", WALL),
    "csps": ("context_switches_per_s", BANNERS),
    "cspq": ("context_switches_per_op", BANNERS),
    "cpupq": ("host_cpu_us_per_op", BANNERS),
    "p50": ("median_qps", RATES),
    "p99": ("worst_qps_p99", RATES),
}
_DIGITS: Mapping[str, str] = {"cspq": ".3f", "cpupq": ".0f"}


def differences(found: Records) -> list[RecomputedFigure]:
    """Only raw files say anything else than the row."""
    return [each for one in metric_rows.sums(found) if one.raw for each in _differences(one)]


def _differences(one: Sum) -> Iterator[RecomputedFigure]:
    found = figures(one, None)
    known = {**series_figures(found.qps).metrics, **found.metrics}
    for column, (metric, why) in _DIFFERING.items():
        clean = format(known[metric], _DIGITS.get(column, ".0f")) if metric in known else ""
        if clean != one.cells.get(column, "") and not (column == "qps" and steps.asked(one.step) is None):
            yield RecomputedFigure(
                one.path.name, f"{one.tag} {one.step}", column, one.cells.get(column, ""), clean, why
            )
