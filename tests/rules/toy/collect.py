"""Stands in for collect."""

import sys
from pathlib import Path

from compiler.store.store import Store

with Path("log").open("a") as log:
    log.write(" ".join(["collect", *sys.argv[2:]]) + "\n")
tables = Store().summary(sys.argv[1]) / "tables"
tables.mkdir(parents=True, exist_ok=True)
(tables / "steps.parquet").write_text("rows")
