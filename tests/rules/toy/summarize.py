"""Stands in for summarize."""

import sys
from pathlib import Path

from stepgrid.store.store import Store, revision

with Path("log").open("a") as log:
    log.write(" ".join(["summarize", *sys.argv[2:]]) + "\n")
folder = Store().summary(sys.argv[1])
(folder / "index.html").write_text("<html>")
(folder / "summary.txt").write_text(" ".join(["the summary", *sys.argv[2:]]) + "\n")
Store().stamp_report(sys.argv[1], revision())
