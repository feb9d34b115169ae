"""An example of each layout: what a spec says, and a block as the report would have it; figures that were published."""

from typing import NamedTuple

from stepgrid.plugins.layout import MEASURED_ROW, OTHER_ROW, SUM_ROW, UNRESOLVED_ROW, Block, FunctionTime, LayoutCell
from stepgrid_databases.layouts import counters
from tests.layouts.made import compared, subjects
from tests.layouts.test_published import PROBES, SERVERS, STALLS, measured


class Example(NamedTuple):
    what: str
    said: str  # in report.tables
    block: Block


def _subjects(title, values, **said):
    made = subjects(values, **said)
    return Block(**{**{name: getattr(made, name) for name in Block.__struct_fields__}, "title": title})


def _micro(title, rows, base=False):
    """Rows of a step and its range; two servers."""
    spots = {}
    for row, pair in enumerate(rows.values()):
        for column, values in enumerate(pair):
            ratios = {"qps": values["qps"] / pair[0]["qps"]} if base else {}
            spots[row, column] = LayoutCell(values, ratios=ratios)
    labels = tuple(tuple(f"{name} ".split(" ")[:2]) for name in rows)
    of = {"base": "server=mysql", "base_column": 0} if base else {}
    return Block(title, labels, (("mysql",), ("myrocks",)), spots, ("step", "range"), ("server",), **of)


def _rates(*pairs):
    return {name: ({"qps": one}, {"qps": other}) for name, one, other in pairs}


def _scan():
    return _subjects("per operation", dict(map(measured, SERVERS["bee"][0].splitlines())), point="scan")


def _stalls():
    causes = ("stall_l0_delays", "stall_memtable_delays", "stall_pending_delays", "stall_delays")
    none = dict.fromkeys(counters.STALL_METRICS.values(), 0.0)
    counted = {build.partition(",")[0]: map(float, STALLS[build]) for build in ("speedb", "rocksdb")}
    values = {build: none | dict(zip(causes, found, strict=True)) for build, found in counted.items()}
    for found in values.values():
        found["stall_l0_compacting_delays"] = found["stall_l0_delays"]
    return _subjects("write stalls", values, point="overwrite")


def _levels():
    gib = 2.0**30
    flushed = {"files": 3.0, "bytes": 0.19 * gib, "score": 0.8, "write_bytes": 17.3 * gib, "write_amplification": 1.0}
    last = {"files": 412.0, "bytes": 25.6 * gib, "score": 0.9, "read_bytes": 89.4 * gib, "write_bytes": 71.2 * gib}
    whole = {"files": 415.0, "bytes": 25.8 * gib, "read_bytes": 89.4 * gib, "write_bytes": 88.5 * gib}
    rates = {"write_mb_per_s": 113.9, "seconds": 795.6, "cpu_seconds": 642.13, "compactions": 1212.0}
    rows = (
        {"level": "L0", **flushed},
        {"level": "L6", **last, "write_amplification": 4.1, "keys_in": 412e6, "keys_dropped": 61e6},
        {"level": "Sum", **whole, "write_amplification": 5.1, **rates, "keys_in": 412e6, "keys_dropped": 61e6},
    )
    return Block("compaction", (("9.9.3",),), spots={(0, 0): LayoutCell({}, levels=rows)}, point="overwrite")


def _iostat():
    names = (
        "device_reads_per_s device_read_mb_per_s device_read_await_ms device_read_request_kb device_writes_per_s "
        "device_write_mb_per_s device_write_await_ms device_write_request_kb"
    )
    figures = (6336, 364.4, 0.43, 52.9, 14344, 1342.0, 0.40, 95.5)
    return _subjects("iostat averages", {"speedb.udd0": dict(zip(names.split(), figures, strict=True))})


def _vmstat():
    processors = ("host_cpu_user_pct", "host_cpu_system_pct", "host_cpu_idle_pct", "host_cpu_iowait_pct")
    names = ("context_switches_per_s", *processors)
    lines = {"7.6.0": (1495325, 50.3, 14.0, 18.5, 0.1), "9.9.0": (2360, 82.7, 14.0, 16.6, 0.1)}
    values = {name: dict(zip(names, figures, strict=True)) for name, figures in lines.items()}
    return _subjects("vmstat averages", values, point="readww")


def _inserts():
    target = {"target_inserts_per_s": 4000.0}
    more = {
        "device_writes_per_s": 2120.0,
        "device_write_mb_per_s": 61.5,
        "tables_bytes": 31.5e9,
        "database_bytes": 33e9,
    }
    loads = {"inserts_per_s": 103093.0, **more}, {"inserts_per_s": 81967.0}
    queries = ({"inserts_per_s": 3990.0, "qps": 15400.0, **target}, {"inserts_per_s": 3120.0, "qps": 21900.0, **target})
    spots = {
        (row, column): LayoutCell(each) for column, pair in enumerate((loads, queries)) for row, each in enumerate(pair)
    }
    return Block("insert benchmark", (("my8028",), ("pg16",)), (("l.i0",), ("q1000.1",)), spots)


def _times():
    shares = {
        "my8028": (96.117, 3.871, 0.011, 0.001, *[0.0] * 6),
        "pg16": (88.2, 11.6, 0.1, 0.0999, 0.0001, *[0.0] * 5),
    }
    spots = {
        (row, 0): LayoutCell({"max_query_seconds": longest}, times={"query": shares[name]})
        for row, (name, longest) in enumerate((("my8028", 0.013), ("pg16", 0.054)))
    }
    return Block("response times by class", tuple((name,) for name in shares), spots=spots, point="q1000.1")


def _linkbench():
    operations = {
        "addnode": 1.2, "updatenode": 1.9, "deletenode": 1.3, "getnode": 0.4, "addlink": 3.1, "deletelink": 2.2,
        "updatelink": 3.3, "countlink": 0.5, "getlink": 0.6, "getlinklist": 0.9,
    }  # fmt: skip
    values = {
        build: {"qps": qps}
        | {f"{name}_p99_us": 1000 * slower * p99 for name, p99 in operations.items()}
        | {f"{name}_max_us": 31_250 * slower * p99 for name, p99 in operations.items()}
        | {f"{name}_avg_us": 250 * slower * p99 for name, p99 in operations.items()}
        for build, qps, slower in (("innodb", 1321.0, 2.0), ("myrocks", 2642.0, 1.0))
    }
    return _subjects("linkbench response times", values, point="request.4")


def _recall():
    found = {
        "m=8 ef_search=10": (0.9496, 3819.4, 4.1),
        "m=8 ef_search=80": (0.99, 1609.2, 4.1),
        "m=16 ef_search=80": (0.996, 1380.0, 7.9),
    }
    values = {
        name: {"recall": recall, "qps": qps, "index_seconds": seconds} for name, (recall, qps, seconds) in found.items()
    }
    return _subjects("recall and QPS", values | {"m=48 ef_search=80": "failed"})


def _probes():
    lines = [line.split() for line in PROBES["cached"].splitlines()]
    spots = {
        (row, column): LayoutCell({"get_min": float(text)})
        for row, (_, *seconds) in enumerate(lines)
        for column, text in enumerate(seconds)
    }
    steps = (("l.i1",), ("q100",), ("q500",), ("q1000",))
    return Block("probes", tuple((name,) for name, *_ in lines), steps, spots, metrics=("get_min",))


def _counters():
    grown = {"base": {"Handler_read_next": 3614410.0, "Handler_read_key": 0.0}}
    found = {**grown, "sd8k": {"Handler_read_next": 903.0, "Handler_read_key": 12.0}}
    return _subjects("counters", found, counters=("Handler_*",), point="point-query")


def _functions():
    times = {
        "rocksdb::LRUCacheShard::Lookup": (0.61, FunctionTime(3.52, 2.91, 0.12)),
        "rocksdb::BlockIter::{Next, ParseNextKey}": (1.24, FunctionTime(1.31, 0.07, 0.05)),
        OTHER_ROW: (3.1, FunctionTime(3.02, -0.08, 0.2)),
        UNRESOLVED_ROW: (0.21, FunctionTime(0.24, 0.03, 0.04)),
        SUM_ROW: (5.16, FunctionTime(8.09, 2.93, 0.31)),
        MEASURED_ROW: (5.2, FunctionTime(8.11, 2.91, 0.3)),
    }
    waits = {
        "futex_do_wait": (1.9, FunctionTime(4.02, 2.12, 0.3)),
        "waiting for a CPU": (0.4, FunctionTime(0.52, 0.12, 0.21)),
        "running": (5.18, FunctionTime(8.1, 2.92, 0.31)),
        SUM_ROW: (7.48, FunctionTime(12.64, 5.16, 0.4)),
    }
    both = (times, waits)
    bases = ({name: FunctionTime(time) for name, (time, _) in table.items()} for table in both)
    arms = ({name: arm for name, (_, arm) in table.items()} for table in both)
    spots = {
        (0, column): LayoutCell(functions=functions, waits=slept)
        for column, (functions, slept) in enumerate((bases, arms))
    }
    return Block("CPU by function", (("9.10.0",),), (("hyper",), ("lru",)), spots, base_column=0, point="readww")


def _sizes():
    mib = 2.0**20
    tree = {"table_name": "pi1", "rows": 500_000.0}
    tables = {
        "myrocks": [
            {**tree, "index_name": None, "bytes": 95.5 * mib},
            {**tree, "index_name": "PRIMARY", "bytes": 61.0 * mib, "tombstones": 1_250_000.0},
            {**tree, "index_name": "marketsegment", "bytes": 34.5 * mib, "tombstones": 0.0},
        ],
        "postgres": [
            {**tree, "index_name": None, "bytes": 210.0 * mib, "dead_rows": 12_400.0, "bloat_bytes": 88.0 * mib},
            {"table_name": "pi1", "index_name": "pi1_pkey", "bytes": 42.0 * mib},
        ],
    }
    spots = {(row, 0): LayoutCell(objects=objects) for row, objects in enumerate(tables.values())}
    title = "sizes of tables and indexes"
    return Block(title, tuple((name,) for name in tables), spots=spots, point="l.i1")


def _load():
    loaded = {"qps": 50000.0, "seconds": 200.0, "insert_seconds": 150.0, "index_seconds": 50.0}
    settled = {"data_bytes": 1.9 * 2**30, "index_bytes": 0.2 * 2**30, "database_bytes": 2.6 * 2**30}
    spots = {
        (0, column): LayoutCell(values)
        for column, values in enumerate((loaded, settled, {"database_bytes": 2.9 * 2**30}))
    }
    spots |= {(1, column): LayoutCell(status="failed") for column in range(3)}
    return Block(
        "load and sizes", (("mysql",), ("myrocks",)), (("load",), ("settle",), ("insert",)), spots, ("server",)
    )


def _percentiles():
    names = ("p50_us", "p99_us", "p99_9_us", "p99_99_us", "max_us")
    lines = {"8.5.4": (14.9, 87.0, 121.0, 245.0, 9141.0), "9.9.3": (13.8, 85.0, 119.0, 240.0, 8830.0)}
    values = {name: dict(zip(names, figures, strict=True)) for name, figures in lines.items()}
    return _subjects("response time", values, point="readww")


def _figures():
    values = {"8.5.4": {"qps": 1234567.8, "lsm_bytes": 3.2 * 2**30},
              "9.9.3": {"qps": 1345678.9}, "9.10.0": "unsupported"}  # fmt: skip
    return _subjects("by version", values, metrics=("qps", "lsm_bytes"), row_axes=("build",), point="readww")


CPU = (
    {"server_cpu_us_per_op": 20.4, "client_cpu_us_per_op": 7.0},
    {"server_cpu_us_per_op": 31.0, "client_cpu_us_per_op": 7.2},
)
ERRORS = ({"ignored_errors": 3.0}, {"ignored_errors": 41.0})
SCANNED = ({"qps": 3.4, "rows_per_s": 340000.0}, {"qps": 2.0, "rows_per_s": 200000.0})
GROUPED = _rates(("point-query ", 1000, 800), ("scan ", 30, 20), ("read-only-count 1000", 50, 60), ("insert ", 9, 12))
PAIRS = _rates(("scan.pre ", 100, 90), ("scan ", 80, 88))
RELATIVE = {
    "fillseq": (1.00e6, 1.11e6, 1.09e6),
    "overwrite": (2.50e5, 2.00e5, 2.75e5),
    "readww": (1.20e6, 1.20e6, 3.00e6),
}
EXAMPLES = {
    "figures": Example(
        "Any metrics over any axes: a table that names no layout. Ours: thousands, units, a row for each arm.",
        "{title: by version, rows: build, metrics: [qps, lsm_bytes]}", _figures()),
    "relative": Example(
        "QPS relative to the base, which has no column: a row for each step. Another metric by `metrics`.",
        "{layout: relative, columns: build}", compared(RELATIVE, ("6.29.5", "8.5.4", "9.9.3"))),
    "groups": Example(
        "The same of microbenchmarks, by group.", "{layout: groups}", _micro("relative QPS", GROUPED, True)),
    "absolute": Example(
        "QPS of microbenchmarks by group, as it is; of a scan its rows as well.", "{layout: absolute}",
        _micro("QPS by group", {"scan ": SCANNED, "insert ": GROUPED["insert "]})),
    "before_after": Example(
        "QPS of a step over that of the step of its name with `.pre`.", "{layout: before_after}",
        _micro("QPS after what writes, relative to before it", PAIRS)),
    "per_operation": Example(
        "What an operation cost, absolute and relative to the first; 0 of 0 is 1, anything else of 0 is inf.",
        "{layout: per_operation}", _scan()),
    "cpu": Example("CPU of server and client.", "{layout: cpu}", _micro("CPU per operation", {"point-query ": CPU})),
    "errors": Example(
        "Steps whose clients had to try again; of none, nothing.", "{layout: errors}",
        _micro("errors and reconnects", {"read-write 100": ERRORS})),
    "load": Example("How fast tables are loaded, and how large they are then.", "{layout: load}", _load()),
    "linkbench": Example(
        "Response times of LinkBench's operations, as published: in milliseconds.", "{layout: linkbench}", _linkbench()
    ),
    "percentiles": Example("Response times, of db_bench and sysbench.", "{layout: percentiles}", _percentiles()),
    "response_times": Example(
        "The share of operations by how long they took: of any step with a histogram (db_bench, sysbench, the insert "
        "benchmark); means over the loads.", "{layout: response_times}", _times()),
    "iostat": Example("The database's device.", "{layout: iostat}", _iostat()),
    "vmstat": Example("The host's processors.", "{layout: vmstat}", _vmstat()),
    "stalls": Example("Write stalls of RocksDB, by cause.", "{layout: stalls}", _stalls()),
    "compaction": Example(
        "The last compaction table that a step printed, by level; what no release printed has no column.",
        "{layout: compaction}", _levels()),
    "compaction_sum": Example("Its row `Sum`, a line for each arm.", "{layout: compaction_sum}", _levels()),
    "insert_benchmark": Example(
        "Throughput by step, the same to the base, rows/s under their target, and by step what "
        "they cost. The page colours them.", "{layout: insert_benchmark}", _inserts()),
    "recall": Example(
        "Searches by recall, and the fastest with a recall that is asked for, beside the seconds of its index where a "
        "step of the same cell made it.", "{layout: recall}", _recall()),
    "recovery": Example(
        "How an engine comes back after steps of kind crash.", "{layout: recovery}",
        _subjects("crash and recovery", {
            "before=1s": {"first_answer_seconds": 0.31, "replay_seconds": 0.2, "replayed_bytes": 15139386.0,
                          "replayed_records": 14568.0, "rows_checked": 14400.0, "rows_lost": 0.0},
            "before=16s": {"first_answer_seconds": 2.7, "replay_seconds": 2.5, "replayed_bytes": 130249816.0,
                           "replayed_records": 125334.0, "rows_checked": 125200.0, "rows_lost": 0.0}},
            point="crash")),
    "probes": Example(
        "Seconds of a probe, by the step that it ran before or after.",
        "{layout: probes, metrics: [get_min]}", _probes()),
    "counters": Example(
        "Counters of a server, or of the processor where `counters` names none: as they grew, and to the first.",
        '{layout: counters, counters: ["Handler_*"]}', _counters()),
    "functions": Example(
        "CPU by function, where the collector perf_record sampled it: functions whose time changed most come first, "
        "`top: 5` shows five. Braces hold functions that were renamed or inlined into each other. The sum is of all "
        "rows above it, and should equal the measured CPU. After a profile pass a second table has the time of "
        "threads: asleep, by the function of the kernel, waiting for a CPU, and running.",
        "{layout: functions}", _functions()),
    "table_sizes": Example(
        "What a step has left: each table, and each of its indexes, with its garbage. Of one load.",
        "{layout: table_sizes}", _sizes()),
}  # fmt: skip
