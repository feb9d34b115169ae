"""How the processes of `make test` share the tests: a file is a share, and those of real engines come first."""

from xdist.scheduler import LoadFileScheduling

ENGINES = "tests/integration/"
SPECS = "tests/specs/"
LONG = (ENGINES, "tests/kills/", "tests/rules/", SPECS)
SPEEDS = tuple(f"{ENGINES}test_{name}" for name in ("axis_search", "sqlite_demo", "sysbench_run", "verdicts"))


class Scheduler(LoadFileScheduling):
    """Tests that assert a speed run one after the other; plans of published experiments are compiled once."""

    def __init__(self, config, log):
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid):
        if nodeid.startswith(SPECS):
            return SPECS
        return SPEEDS[0] if nodeid.startswith(SPEEDS) else str(super()._split_scope(nodeid))


def order(nodeid):
    """Sort key: a long share that begins last would be waited for by all other processes."""
    return not nodeid.startswith(LONG)
