"""What is said of RocksDB's releases is looked up only by a maintainer who has a clone of it: docs/db_bench.md."""

import os

collect_ignore = [] if "STEPGRID_ROCKSDB_GIT" in os.environ else ["test_rocksdb_source.py"]
