"""The fast tier, `pytest --fast`: no engine, no Snakemake, nothing that takes longer than a second.

Folders of FOLDERS are left out, and what tests/slow.txt names, a file or a test a line. `pytest --fast --write-slow`
runs what is left and adds what takes longer than a second here.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
OPTION, WRITE = "--fast", "--write-slow"
FOLDERS = ("integration", "kills", "rules", "publishing", "fuzz", "bench")  # engines, Snakemake, kills, simulations
SLOW = TESTS / "slow.txt"
MOST_S = 1.0


def leave_out(items: list[pytest.Item]) -> None:
    slow = {line for line in SLOW.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}
    items[:] = [item for item in items if not _is_slow(item, slow)]


def _is_slow(item: pytest.Item, slow: set[str]) -> bool:
    path, _, name = item.nodeid.partition("::")
    if Path(path).parts[1] in FOLDERS or any(True for _ in item.iter_markers("integration")):
        return True
    return bool({path, f"{path}::{name}", f"{path}::{name.partition('[')[0]}"} & slow)


class SlowTests:
    """Times of the tests of a run; what took too long is added to the list at its end."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        functions = Counter[str]()
        for node, seconds in self._seconds.items():
            functions[node.partition("[")[0]] += seconds  # type: ignore[assignment]
        found = {node for node, seconds in functions.items() if seconds > MOST_S}
        text = SLOW.read_text(encoding="utf-8")
        head = [line for line in text.splitlines() if line.startswith("#")]
        listed = {line for line in text.splitlines() if line and not line.startswith("#")}
        SLOW.write_text("\n".join([*head, *sorted(listed | found)]) + "\n", encoding="utf-8")
