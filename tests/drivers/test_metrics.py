"""What a driver's parser finds is a metric, and each is defined once."""

import pytest

from stepgrid.model.plan import PlannedStep
from stepgrid.model.result_schema import LEVELS
from stepgrid.plugins.driver import WorkloadOperations
from stepgrid.plugins.metrics import METRICS, PUBLISHED, SECTIONS, metric_name
from stepgrid.plugins.registry import DRIVERS, driver
from stepgrid.summarize.notes import operation_coverage
from stepgrid_databases.drivers import pgbench, tpcc
from stepgrid_databases.drivers.db_bench import engine_statistics, output
from stepgrid_databases.drivers.db_bench.benchmarks import ALL_BENCHMARKS
from stepgrid_databases.drivers.linkbench.settings import MIX
from stepgrid_databases.drivers.sysbench.settings import WORKLOADS


def test_a_name_is_defined_once():
    names = [metric.name for section in SECTIONS.values() for metric in section]
    assert len(names) == len(set(names))


def test_there_is_a_metric_for_all_that_the_parsers_of_db_bench_know():
    latencies = {"avg_us", "max_us", *output.PERCENTILES.values()}
    parts = {field.metric for field in engine_statistics.FIELDS if field.metric}
    parts |= {volume.metric for volume in engine_statistics.VOLUMES}
    parts |= {name for name, _ in engine_statistics.STALLS.values()} | engine_statistics.STALL_TOTALS.keys()
    assert latencies | parts | {f"{kind}_{name}" for kind in output.OPERATIONS for name in latencies} <= METRICS.keys()
    assert {field.name for field in engine_statistics.FIELDS} == LEVELS.keys()


def test_published_columns_are_of_metrics_that_there_are():
    for columns in PUBLISHED.values():
        assert columns.keys() <= METRICS.keys()
        assert len(set(columns.values())) == len(columns)
    assert METRICS["compaction_seconds"].legacy == {"db_bench": "c_wsecs"}
    assert METRICS["host_cpu_us_per_op"].legacy == {"sysbench": "cpu/o", "insert_benchmark": "cpupq"}
    assert (metric_name("c_wsecs"), metric_name("qps"), metric_name("p99"), metric_name("w_amp")) == (
        "compaction_seconds",
        "qps",
        "p99_us",
        "write_amplification_published",
    )


NAMES = {
    "db_bench": ALL_BENCHMARKS,
    "insert_benchmark": {"insert", "delete", "range", "point"},
    "linkbench": {"load", *MIX},
    "pgbench": {"init", *pgbench.BUILTIN},
    "sysbench": {*WORKLOADS},
    "tpcc": {"load", *tpcc.TRANSACTIONS},
}


def test_each_workload_of_a_kind_runs_some_operation():
    kinds = {name: DRIVERS.get(name) for name in DRIVERS.names()}
    operations = {name: kind.operations for name, kind in kinds.items() if isinstance(kind, WorkloadOperations)}
    assert operations.keys() == NAMES.keys()
    for kind, names in NAMES.items():
        running = set(" ".join(operations[kind]).split())
        assert running <= names if kind == "db_bench" else running == names


def step(kind, name="", **settings):
    duration = {} if kind in ("command", "db_bench") else {"duration": 60.0}
    whole = driver(kind).settings_model().model_validate({**settings, **duration}).model_dump(mode="json")
    return PlannedStep(name or kind, kind, 1, whole, {}, 0, measured=settings.get("action") != "load")


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (
            [step("db_bench", benchmarks=names, keys=5) for names in (["fillseq", "stats"], ["mixgraph", "deleteseq"])],
            "full scan, merge, transaction",
        ),
        (
            [step("tpcc", action=name, warehouses=1) for name in ("load", "run")],
            "full scan, update of an indexed column",
        ),
        (
            [
                step("linkbench", action="request", ids=9, mix={"getlink": 60, "addlink": 40}),
                step("insert_benchmark", action="query", deletes=True, insert_rate=9),
            ],
            "full scan, update of an indexed column",
        ),
        (
            [
                *(step("sysbench", "mine", lua="mine.lua", rows=5), step("command", argv=["ls"])),
                *(step("pgbench", scripts="tpcb-like", scale=1), step("sysbench", lua="scan", rows=5)),
            ],
            "short range, update of an indexed column, delete; unknown of mine, command",
        ),
        ([step("sysbench", lua=name, rows=5) for name in ("read_write", "scan")], ""),
    ],
)
def test_operations_that_no_measured_step_runs(steps, text):
    assert operation_coverage(steps).sentences == ([f"no measured step runs: {text}"] if text else [])
