"""stepgrid parse: the figures of a log that people already have."""

from pathlib import Path

import pytest

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


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "fill.log"
    path.write_text(LOG)
    (tmp_path / "fill.log.r.csv").write_text("secs_elapsed,interval_qps\n1,390000\n2,350000\n")
    return path


def test_no_database_and_no_array_is_needed(log: Path) -> None:
    """A log is read on any machine."""
    import subprocess
    import sys

    code = (
        "import sys; from stepgrid.cli import main; main(sys.argv[1:]); print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code, "parse", "db_bench", str(log)], capture_output=True, text=True)
    assert {"numpy", "duckdb", "snakemake", "scipy"}.isdisjoint(found.stderr.split())
