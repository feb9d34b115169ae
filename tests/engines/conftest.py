"""Facts of RocksDB's releases are looked up only where a clone of it is: docs/reference/db_bench.md."""

import os

collect_ignore = [] if "STEPGRID_ROCKSDB_GIT" in os.environ else ["test_rocksdb_source.py"]
