"""How the processes of `pytest --numprocesses 3` share the tests."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

ENGINES = "tests/integration/"
ROWS = tuple(f"{ENGINES}test_{name}" for name in ("linkbench", "insert_benchmark_kills"))
UNTIMED = tuple(f"{ENGINES}test_{name}" for name in ("artifacts", "build", "examples", "language_server", "wheel"))


class Scheduler(LoadFileScheduling):
    """One process takes all that measure real engines, one after the other. Any other file is one process's, too.

    Those that need the same servers and measure nothing go together: the servers are made once for each process.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(ROWS):
            return ROWS[0]
        measures = nodeid.startswith(ENGINES) and not nodeid.startswith(UNTIMED)
        return ENGINES if measures else str(super()._split_scope(nodeid))
