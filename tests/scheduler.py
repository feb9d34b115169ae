"""How the processes of `pytest --numprocesses 2` share the tests."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

ENGINES = "tests/integration/"


class Scheduler(LoadFileScheduling):
    """One process takes all that run real engines, one after the other. Any other file is one process's, too."""

    def _split_scope(self, nodeid: str) -> str:
        return ENGINES if nodeid.startswith(ENGINES) else str(super()._split_scope(nodeid))
