"""The fast tier, `pytest --fast`: no engine, no Snakemake, nothing that takes longer than half a second.

Folders of FOLDERS are left out, and what tests/slow.txt names, a file or a test a line. `pytest --fast --write-slow`
runs what is left and adds what takes longer than half a second here.
"""

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests import forked

TESTS = Path(__file__).resolve().parent
OPTION, WRITE = "--fast", "--write-slow"
FOLDERS = ("integration", "kills", "rules", "publishing", "fuzz", "bench")  # engines, Snakemake, kills, simulations
SLOW = TESTS / "slow.txt"
HOUSE = "tests/test_house.py"  # which every change has (tests/changed.py), though reading all modules takes seconds
MOST_S, WAITED = 0.5, 8.0  # on a busy host a second of processor time is many on the clock


def leave_out(items):
    slow = slow_tests()
    items[:] = [item for item in items if not _is_slow(item, slow)]


def is_left_out(path):
    """A folder or file that need not be imported: to import all tests takes a third of the time of the fast ones."""
    name = path.relative_to(TESTS.parent).as_posix() if path.is_relative_to(TESTS) else ""
    return name.removeprefix("tests/") in FOLDERS or name in slow_tests()


@cache
def slow_tests():
    lines = SLOW.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def _is_slow(item, slow):
    path, _, name = item.nodeid.partition("::")
    if Path(path).parts[1] in FOLDERS or any(True for _ in item.iter_markers("integration")):
        return True
    return bool({path, f"{path}::{name}", f"{path}::{name.partition('[')[0]}"} & slow)


class SlowTests:
    """Processor time of the tests of a run, and what waits; what takes too long is added to the list at its end."""

    def __init__(self):
        self._seconds: Counter[str] = Counter()
        self._began = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        self._began = _processor_time()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.when == "teardown":
            report.user_properties.append(("processor", _processor_time() - self._began))
        return report

    def pytest_runtest_logreport(self, report):
        spent = dict(report.user_properties).get("processor", 0.0)
        self._seconds[report.nodeid] += max(float(str(spent)), report.duration / WAITED)

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workerinput"):
            return
        functions = Counter[str]()
        for node, seconds in self._seconds.items():
            functions[node.partition("[")[0]] += seconds
        text = SLOW.read_text(encoding="utf-8")
        head = [line for line in text.splitlines() if line.startswith("#")]
        listed = slow_tests() | {node for node, seconds in functions.items() if seconds > MOST_S and HOUSE not in node}
        SLOW.write_text("\n".join([*head, *sorted(listed)]) + "\n", encoding="utf-8")


def _processor_time():
    """Also that of commands in forks of another process, which counts here only when it has ended."""
    return sum(os.times()[:4]) + sum(forked.processor)
