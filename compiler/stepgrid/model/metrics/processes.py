"""Metrics of what the processes of a step used: of its client, and of a server."""

from __future__ import annotations

from stepgrid.model.metrics.metric import MEASURED, STEP, Metric

PROCESSES = (
    Metric("cpu_seconds", "s", None,
           "User and system time of the step's processes; with a server, of client and server together.", MEASURED),
    Metric("client_cpu_seconds", "s", None, "The client's part of cpu_seconds, where there is a server.", MEASURED),
    Metric("server_cpu_seconds", "s", None,
           "The server's part of cpu_seconds: all processes that it started.", MEASURED),
    Metric("process_cores", "cores", None, "Cores that the step's processes kept busy, as sampled.", MEASURED),
    Metric("server_cores", "cores", None, "Cores that the server's processes kept busy, as sampled.", MEASURED),
    Metric("process_rss_bytes", "B", None,
           "Highest resident memory of the step's processes, as sampled once a second. The first sample, of programs "
           "that begin, and the last one, of programs that have ended, do not count.", STEP),
    Metric("process_max_rss_bytes", "B", None,
           "Highest resident memory of the step's largest process, as the kernel noted it; never below the tens of "
           "MiB of the runner that started it.", STEP),
    Metric(
        "process_read_bytes", "B", None, "Bytes that the step's processes caused to be read from devices.", MEASURED
    ),
    Metric(
        "process_write_bytes", "B", None, "Bytes that the step's processes caused to be written to devices.", MEASURED
    ),
    Metric("server_rss_bytes", "B", None,
           "Highest resident memory of the server's processes, as sampled; memory that several of them share counts "
           "in each.", STEP),
    Metric("server_virtual_bytes", "B", None,
           "Highest address space of the server's process, used or not: of published results.", STEP),
    Metric("server_read_bytes", "B", None, "Bytes that the server caused to be read from devices.", MEASURED),
    Metric("server_write_bytes", "B", None, "Bytes that the server caused to be written to devices.", MEASURED),
    Metric("drain_cpu_seconds", "s", "lower",
           "User and system time of the step's processes after its measured benchmark.",
           "from the end of the measured benchmark to the step's exit"),
    Metric("drain_write_bytes", "B", None,
           "Bytes that the step's processes caused to be written to devices after its measured benchmark.",
           "from the end of the measured benchmark to the step's exit"),
)  # fmt: skip
