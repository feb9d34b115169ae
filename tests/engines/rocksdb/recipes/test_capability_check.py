import sys
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.engines.rocksdb.recipes.capability_check import probe, supported
from tests.build.ordering import order

LOG = """\
2026/11/21-12:00:00.000000 7f Compression algorithms supported:
2026/11/21-12:00:00.000000 7f \tkZSTDNotFinalCompression supported: 1
2026/11/21-12:00:00.000000 7f \tkZSTD supported: 1
2026/11/21-12:00:00.000000 7f \tkXpressCompression supported: 0
2026/11/21-12:00:00.000000 7f \tkLZ4HCCompression supported: 1
2026/11/21-12:00:00.000000 7f \tkBZip2Compression supported: 1
2026/11/21-12:00:00.000000 7f Fast CRC32 supported: Supported on x86
2026/11/21-12:00:00.000000 7f DMutex implementation: pthread_mutex_t
2026/11/21-12:00:00.000000 7f Jemalloc supported: 1
"""


def test_from_the_log_of_a_database():
    assert supported(LOG) == ["bzip2", "lz4hc", "zstd"]
    assert supported("") == []


def test_a_program_that_does_not_run(tmp_path: Path):
    (tmp_path / "db_bench").write_text("raise SystemExit('no such option')")
    with pytest.raises(BuildError) as error:
        probe(order(tmp_path, {}), (sys.executable, "db_bench"))
    assert str(error.value) == "the new db_bench does not run: no such option"
