"""The client of a step: loads, indexes or searches vectors, and reports what it did."""

from __future__ import annotations

import sys
from pathlib import Path

from stepgrid.drivers.client_report import ReportFile
from stepgrid.drivers.vector_search import actions
from stepgrid.drivers.vector_search.command import failure
from stepgrid.drivers.vector_search.datasets import dataset_cache
from stepgrid.plugins.driver import read_request


def main(folder: Path) -> int:
    access, request = read_request(folder)
    assert access is not None
    settings, file = request["settings"], request["file"]
    try:
        with ReportFile(folder) as report:
            dataset = dataset_cache.get(settings["dataset"], Path(file) if file else None, Path(request["cache"]))
            report.write(
                "dataset",
                checksum=dataset.checksum,
                rows=len(dataset.rows),
                dimensions=dataset.dimensions,
                queries=len(dataset.queries),
                distance=dataset.distance,
            )
            actions.ACTIONS[settings["action"]](access, dataset, settings, report)
    except Exception as error:  # whatever the server's library raises is what the server said
        print(failure(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
