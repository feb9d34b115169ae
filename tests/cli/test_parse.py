"""stepgrid parse: the figures of a log that people already have."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.plugins.metrics import METRICS

Capture = pytest.CaptureFixture[str]
LOG = """\
RocksDB:    version 9.9.3
Keys:       20 bytes each (+ 0 bytes user-defined timestamp)
Values:     400 bytes each (200 bytes after compression)
Compression: NoCompression
WARNING: Assertions are enabled; benchmarks unnecessarily slow
2026/11/21-18:08:10  ... thread 1: (5,5) ops and (5.0,5.0) ops/second in (1.000000,1.000000) seconds
num-running-flushes: 0
fillseq      :       2.559 micros/op 390826 ops/sec 1.279 seconds 500000 operations;   43.2 MB/s
Microseconds per write:
Count: 500000 Average: 2.5584  StdDev: 40.40
Min: 1  Median: 1.5700  Max: 8097
Percentiles: P50: 1.57 P75: 1.86 P99: 3.99 P99.9: 15.26 P99.99: 315.00
------------------------------------------------------
[       0,       1 ]      415   0.083%   0.083%
(       1,       2 ]   499585  99.917% 100.000% ####

** Compaction Stats [default] **
Level    Files   Size     Score Comp(sec) KeyIn
-----------------------------------------------
  L0      1/0   29.65 MB   0.2       0.63  460K
 Sum      1/0   29.65 MB   0.0       0.63  460K

** Compaction Stats [default] **
Priority    Files   Size     Score Comp(sec) KeyIn
--------------------------------------------------
High      0/0    0.00 KB   0.0       0.63  460K

STATISTICS:
rocksdb.block.cache.miss COUNT : 1200
rocksdb.block.cache.hit COUNT : 0
rocksdb.db.get.micros P50 : 1.5 P95 : 2.0 P99 : 3.0 P100 : 9.0 COUNT : 40 SUM : 77
"""
TABLE = """\
{path}: 1 step

1. fillseq
  version 9.9.3, compression NoCompression, key_bytes 20, value_bytes 400
  warning: Assertions are enabled; benchmarks unnecessarily slow

  Throughput
    qps             390,826  operations/s
    usec_per_op        2.56  us
    qps_per_client  390,778  operations/s
    seconds            1.28  s
    operations      500,000  operations
    mb_per_s           43.2  MiB/s

  Latency
    avg_us      2.56  us
    p50_us      1.57  us
    p75_us      1.86  us
    p99_us      3.99  us
    p99_9_us    15.3  us
    p99_99_us    315  us
    max_us     8,097  us

  State of the tree
    lsm_bytes  29.65 MiB
    lsm_files          1  files
    l0_bytes   29.65 MiB
    l0_files           1  files

  Work of the engine
    compaction_seconds     0.630  s
    compaction_keys_in   460,000  keys
    block_cache_hit_pct        0  %

  Levels
    level  Files      Size  Score  Comp(sec)  KeyIn
    L0         1  29.65 MB    0.2       0.63   460K
    Sum        1  29.65 MB    0.0       0.63   460K

  By priority of the threads
    priority  Files     Size  Score  Comp(sec)  KeyIn
    High          0  0.00 KB    0.0       0.63   460K

  Counters: 1 of 8, without those of histograms and those at 0
    rocksdb.block.cache.miss  1,200

  QPS over time: 2 points, 350,000 to 390,000 operations/s (json has them)

  1 interval of 1 client (json has them)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "fill.log"
    path.write_text(LOG)
    (tmp_path / "fill.log.r.csv").write_text("secs_elapsed,interval_qps\n1,390000\n2,350000\n")
    return path


def test_the_table_is_for_reading(log: Path, capsys: Capture) -> None:
    assert main(["parse", "db_bench", str(log)]) == 0
    assert capsys.readouterr().out == TABLE.format(path=log)


def test_csv_has_a_row_for_each_step_and_metric(log: Path, capsys: Capture) -> None:
    log.write_text(LOG + LOG.replace("fillseq ", "overwrite"))
    assert main(["parse", "db_bench", str(log), "--format", "csv"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("step,name,metric,value,unit\n1,fillseq,")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["step"], row["name"], row["value"], row["unit"]) for row in rows if row["metric"] == "qps"] == [
        ("1", "fillseq", "390826.0", "operations/s"),
        ("2", "overwrite", "390826.0", "operations/s"),
    ]
    assert {row["metric"]: row["unit"] for row in rows}.items() <= {name: m.unit for name, m in METRICS.items()}.items()


def test_json_has_everything(log: Path, capsys: Capture) -> None:
    assert main(["parse", "db_bench", str(log), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (step,) = found["steps"]
    assert (found["file"], step["step"], step["name"]) == (str(log), 1, "fillseq")
    assert step["metrics"]["qps"] == {"value": 390826, "unit": "operations/s"}
    assert step["facts"]["version"] == "9.9.3"
    assert step["warnings"] == ["Assertions are enabled; benchmarks unnecessarily slow"]
    assert step["series"] == [{"second": 1, "qps": 390000}, {"second": 2, "qps": 350000}]
    assert step["histograms"] == [
        {"operation": "", "least": 0, "most": 1, "operations": 415},
        {"operation": "", "least": 1, "most": 2, "operations": 499585},
    ]
    assert [level.get("level") or level["priority"] for level in step["levels"]] == ["L0", "Sum", "High"]
    latency = {"avg_us": 2.5584, "stddev_us": 40.4, "min_us": 1, "median_us": 1.57, "max_us": 8097}
    percentiles = {"p50_us": 1.57, "p75_us": 1.86, "p99_us": 3.99, "p99_9_us": 15.26, "p99_99_us": 315}
    assert step["latencies"] == [{"operation": "write", "operations": 500000, **latency, **percentiles}]
    assert step["file_reads"] == []
    assert step["counters"]["rocksdb.db.get.micros.max"] == 9
    assert step["rates"] == [{"client": 1, "second": 1, "operation": "", "per_second": 5, "longest_us": None}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("db_bensh", "fill.log"), "there is no kind `db_bensh`\n   = did you mean `db_bench`?\n"),
        (("db_bench", "full.log"), "there is no file full.log\n"),
    ],
)
def test_what_cannot_be_read_is_said(
    arguments: tuple[str, str], said: str, log: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(log.parent)
    assert main(["parse", *arguments]) == 2
    assert capsys.readouterr() == ("", said)


def test_a_kind_that_has_no_reader(capsys: Capture) -> None:
    assert main(["parse", "quiesce", "x"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("outputs of kind `quiesce` are not read by themselves\n   = known here: db_bench")


def test_no_database_and_no_array_is_needed(log: Path) -> None:
    """A log is read on any machine."""
    import subprocess
    import sys

    code = (
        "import sys; from stepgrid.cli import main; main(sys.argv[1:]); print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code, "parse", "db_bench", str(log)], capture_output=True, text=True)
    assert {"numpy", "duckdb", "snakemake", "scipy"}.isdisjoint(found.stderr.split())


def test_csv_says_aside_which_run_has_no_figures(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "sb.o"
    path.write_text("sysbench 1.0.20 (using system LuaJIT 2.1)\nFATAL: error 1213: deadlock\n")
    assert main(["parse", "sysbench", str(path), "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (
        "step,name,metric,value,unit\n",
        "step 1, sb.o: sysbench failed: error 1213: deadlock\n",
    )
