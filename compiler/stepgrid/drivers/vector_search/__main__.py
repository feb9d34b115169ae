"""The client of a step: loads, indexes or searches vectors, and reports what it did."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.drivers.vector_search import actions
from stepgrid.drivers.vector_search.client_report import ReportFile
from stepgrid.drivers.vector_search.command import failure
from stepgrid.drivers.vector_search.datasets import dataset_cache
from stepgrid.plugins.server_request import asked


def main(folder: Path) -> int:
    began = time.monotonic()
    access, request = asked(folder)
    assert access is not None
    report, settings = ReportFile(folder), request["settings"]
    try:
        found = _dataset(settings, request)
        report.say(
            "dataset",
            checksum=found.checksum,
            rows=len(found.rows),
            dimensions=found.dimensions,
            queries=len(found.queries),
            distance=found.distance,
        )
        actions.ACTIONS[settings["action"]](access, found, settings, report)
    except Exception as error:  # whatever the server's library raises is what the server said
        print(failure(error), file=sys.stderr)
        return 1
    report.say("end", seconds=time.monotonic() - began)
    return 0


def _dataset(settings: Mapping[str, Any], request: Mapping[str, Any]) -> Any:
    file = request["file"]
    return dataset_cache.get(settings["dataset"], Path(file) if file else None, Path(request["cache"]))


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
