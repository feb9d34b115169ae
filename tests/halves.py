"""Halves of `.ci/run`: root's run does what an ordinary user's run skipped, and its last line sums both up."""

import json
import time
from dataclasses import asdict, dataclass, field
from datetime import timedelta

import pytest

FIRST, SECOND = "--first-half", "--second-half"
BAD = ("failed", "error")
OUTCOMES = (*BAD, "passed", "skipped", "xfailed", "xpassed")


@dataclass(slots=True)
class Half:
    tests: dict[str, list[str]] = field(default_factory=dict)  # node ids by outcome
    seconds: float = 0.0
    status: int = 0

    def __str__(self):
        """In pytest's own words."""
        counts = [f"{len(self.tests[outcome])} {outcome}" for outcome in OUTCOMES if self.tests.get(outcome)]
        duration = f"{self.seconds:.2f}s ({timedelta(seconds=int(self.seconds))})"
        return f"{', '.join(counts) or 'no tests ran'} in {duration}"


class HalfRun:
    """A plug-in: writes to `target` what was done; after a half that `source` holds, leaves out what that did."""

    def __init__(self, target, source):
        self._target, self._source = target, source
        self._first = Half(**json.loads(source.read_text(encoding="utf-8"))) if source else Half()
        self._began, self._status = time.monotonic(), 0

    def pytest_collection_modifyitems(self, items):
        done = {name for outcome, names in self._first.tests.items() if outcome != "skipped" for name in names}
        items[:] = [item for item in items if item.nodeid not in done]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self._source and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK
        self._status = int(session.exitstatus)

    def pytest_unconfigure(self, config):
        """Behind pytest's own last line."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or hasattr(config, "workerinput"):
            return
        tests = {outcome: [report.nodeid for report in reporter.stats.get(outcome, ())] for outcome in OUTCOMES}
        half = Half(tests, time.monotonic() - self._began, self._status)
        if self._target:
            self._target.write_text(json.dumps(asdict(half)), encoding="utf-8")
        if self._source:
            self._sum_up(half, reporter)

    def _sum_up(self, second, reporter):
        first, failed = self._first, bool(self._first.status or second.status)
        reporter.write_line(f"first half, as an ordinary user: {first}; exit status {first.status}")
        reporter.write_line(f"second half, what that skipped: {second}; exit status {second.status}")
        for outcome in BAD:
            for name in first.tests.get(outcome, ()):
                reporter.write_line(f"{outcome.upper()} {name} (first half)", red=True)
        tests = {name: [*first.tests.get(name, ()), *second.tests[name]] for name in OUTCOMES}
        tests["skipped"] = second.tests["skipped"]
        both = Half(tests, first.seconds + second.seconds)
        reporter.write_sep("=", str(both), red=failed, green=not failed)
