"""Stands in for a build: writes the record, and a line to the log that the test reads."""

import json
import sys
import time
from pathlib import Path

from stepgrid.store.store import Store

store, node = Store(), sys.argv[2]
if store.has_build(node):
    store.set_mark(node, store.build(node) / "build.json")
    sys.exit()
with Path("log").open("a") as log:
    log.write(f"build {node}\n")
attempt = store.new_attempt(node)
time.sleep(30 if Path("slow-build").exists() else 0.1)
if Path(f"fail-{node}").exists():
    (attempt / "failure.json").write_text("{}")
    sys.exit(f"{node} cannot be had")
(attempt / "build.json").write_text(json.dumps({"id": node}))
store.publish_build(node, attempt)
