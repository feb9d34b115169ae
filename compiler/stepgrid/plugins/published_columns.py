"""Which column of the published layouts holds the same figure as a metric; its unit, and what is added up, may differ.

A column that is computed in another way and has another value (the published scan rates) is no alias.
"""

from __future__ import annotations

from collections.abc import Mapping

_IOSTAT = {
    "device_reads_per_s": "r/s",
    "device_read_mb_per_s": "rMB/s",
    "device_read_await_ms": "r_await",
    "device_read_request_kb": "rareq-sz",
    "device_writes_per_s": "w/s",
    "device_write_mb_per_s": "wMB/s",
    "device_write_await_ms": "w_await",
    "device_write_request_kb": "wareq-sz",
}

PUBLISHED: Mapping[str, Mapping[str, str]] = {
    "db_bench": {
        "qps": "ops_sec",
        "mb_per_s": "mb_sec",
        "lsm_bytes": "lsm_sz",
        "blob_bytes": "blob_sz",
        "write_amplification_published": "w_amp",
        "compaction_write_bytes": "c_wgb",
        "compaction_write_mb_per_s": "c_mbps",
        "compaction_seconds": "c_wsecs",
        "compaction_cpu_seconds": "c_csecs",
        "blob_read_bytes": "b_rgb",
        "blob_write_bytes": "b_wgb",
        "usec_per_op": "usec_op",
        "p50_us": "p50",
        "p99_us": "p99",
        "p99_9_us": "p99.9",
        "p99_99_us": "p99.99",
        "max_us": "pmax",
        "uptime_seconds": "uptime",
        "stall_pct": "stall%",
        "stalls": "Nstall",
        "process_rss_bytes": "rss",
    },
    "sysbench": {
        "qps": "o/s",
        "transactions_per_s": "trx",
        "avg_us": "rtavg",
        "max_us": "rtmax",
        "p95_us": "rt95",
        "device_reads_per_s": "r/s",
        "device_read_mb_per_s": "rMB/s",
        "device_writes_per_s": "w/s",
        "device_write_mb_per_s": "wMB/s",
        "reads_per_op": "r/o",
        "read_kb_per_op": "rKB/o",
        "write_kb_per_op": "wKB/o",
        "context_switches_per_s": "cs/s",
        "context_switches_per_op": "cs/o",
        "host_cpu_us_per_op": "cpu/o",
    },
    "insert_benchmark": {
        "inserts_per_s": "ips",
        "deletes_per_s": "dps",
        "qps": "qps",
        "device_reads_per_s": "rps",
        "device_read_mb_per_s": "rmbps",
        "device_writes_per_s": "wps",
        "device_write_mb_per_s": "wmbps",
        "reads_per_op": "rpq",
        "read_kb_per_op": "rkbpq",
        "writes_per_insert": "wpi",
        "write_kb_per_insert": "wkbpi",
        "context_switches_per_s": "csps",
        "context_switches_per_op": "cspq",
        "host_cpu_us_per_op": "cpupq",
        "client_cpu_us_per_op": "ccpupq",
        "tables_bytes": "dbgb1",
        "database_bytes": "dbgb2",
        "server_virtual_bytes": "vsz",
        "server_rss_bytes": "rss",
        "max_insert_seconds": "maxop",
        "median_qps": "p50",
        "worst_qps_p99": "p99",
    },
    "mixgraph": {
        "qps": "o/s",
        "gets_per_s": "get/s",
        "puts_per_s": "put/s",
        "seeks_per_s": "seek/s",
        "device_reads_per_s": "r/s",
        "device_read_mb_per_s": "rMB/s",
        "device_write_mb_per_s": "wMB/s",
        "reads_per_op": "r/o",
        "read_kb_per_op": "rKB/o",
        "write_kb_per_op": "wKB/o",
        "reads_per_lookup": "r/s+g",
        "read_kb_per_lookup": "rKB/s+g",
        "write_kb_per_put": "wKB/p",
    },
    "iostat": _IOSTAT,
    "vmstat": {
        "context_switches_per_s": "cs",
        "host_cpu_user_pct": "us",
        "host_cpu_system_pct": "sy",
        "host_cpu_idle_pct": "id",
        "host_cpu_iowait_pct": "wa",
    },
    "vector_search": {"recall": "recall", "qps": "qps"},
    "probes": {"min_id_probe_seconds": "getmin"},
}


def columns(metric: str) -> dict[str, str]:
    """Layout -> its column."""
    return {layout: names[metric] for layout, names in PUBLISHED.items() if metric in names}


def metrics() -> dict[str, str]:
    """Column -> metric; of a name that several layouts have for different things, what the first means."""
    found: dict[str, str] = {}
    for names in PUBLISHED.values():
        for metric, column in names.items():
            found.setdefault(column, metric)
    return found
