"""Clean figures of a step: of its raw files where they are there, else what a published row holds of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepgrid.model.figures import Figures
from stepgrid_importers.insert_benchmark import client_rates, latency_histograms, steps
from stepgrid_importers.insert_benchmark.client_output import INSERTS, QUERIES, Client
from stepgrid_importers.insert_benchmark.outcome import Outcome
from stepgrid_importers.insert_benchmark.raw_files import RawRun
from stepgrid_importers.insert_benchmark.table import NONE
from stepgrid_importers.shared import iostat, vmstat
from stepgrid_importers.shared.awk import number

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
    rate = {"qps": number(cells[rated])} if (rated := _rated(step)) in cells else {}
    rate |= {WITH_SETUP: found["inserts_per_s"]} if "inserts_per_s" in found else {}
    return Figures(found | rate | target(step, clients), {"precision": _ROUNDED})


def _rated(step: str) -> str:
    """The column of what the step does: rows, where it only inserts."""
    return "ips" if steps.asked(step) is None else "qps"


def target(step: str, clients: int | None) -> dict[str, float]:
    each = steps.asked(step)
    return {"target_inserts_per_s": float(each * clients)} if each is not None and clients else {}


def of_raw(raw: RawRun, step: str) -> Figures:
    query = steps.asked(step) is not None
    found = _throughput(raw, query) | target(step, int(number(raw.outcome.first["clients"])))
    found |= _sizes(raw.outcome) | _host(raw, found["qps" if query else "inserts_per_s"])
    longest = latency_histograms.longest(raw.clients, "Query" if query else "Insert")
    found |= latency_histograms.figures(raw.clients) | ({} if longest is None else {"max_us": longest * 1e6})
    found |= {PROBE: first} if raw.clients and (first := raw.clients[0].probe) is not None else {}
    found |= _as_published(raw.outcome, "query" if query else "insert")
    rates = series(raw.clients, QUERIES if query else INSERTS)
    histograms = latency_histograms.buckets(raw.clients)
    return Figures(found, {}, rates, histograms=histograms, rates=client_rates.rates(raw.clients))


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
