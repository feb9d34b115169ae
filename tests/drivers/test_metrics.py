"""What a driver's parser finds is a metric, and each is defined once."""

from stepgrid.model.result_schema import LEVELS
from stepgrid.plugins.metrics import METRICS, PUBLISHED, SECTIONS, metric_name
from stepgrid_databases.drivers.db_bench import engine_statistics, output


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
