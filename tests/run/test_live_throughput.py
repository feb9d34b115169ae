from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.run.progress import current_throughput, read_throughput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("secs_elapsed,interval_qps\n1,100\n2,54321\n", [(1.0, 100.0), (2.0, 54321.0)]),
        ("secs_elapsed,interval_qps\n1,100\n2,543", [(1.0, 100.0)]),  # the last line is still being written
        ("interval_qps,secs_elapsed\n7,1\n", [(1.0, 7.0)]),
        ("secs_elapsed,interval_qps\n", []),
        ("", []),
        ("a,b\n1,2\n", []),
        ("secs_elapsed,interval_qps\n1,nothing\n2,5\n", [(2.0, 2.5)]),  # five since the last line that can be read
    ],
)
def test_whole_lines_of_the_report_by_name(tmp_path: Path, text: str, expected: list[tuple[float, float]]) -> None:
    (tmp_path / "report.csv").write_text(text)
    assert list(read_throughput("db_bench", tmp_path)) == expected
    assert current_throughput("db_bench", tmp_path) == (expected[-1][1] if expected else None)


def test_of_a_long_report_the_end_is_read(tmp_path: Path) -> None:
    lines = (f"{second},{second * 10}" for second in range(1, 20_000))
    (tmp_path / "report.csv").write_text("\n".join(["secs_elapsed,interval_qps", *lines]) + "\n")
    found = read_throughput("db_bench", tmp_path)
    assert current_throughput("db_bench", tmp_path) == 199_990.0
    assert 300 < len(found) < 1000
    assert [second for second, _ in found] == list(range(20_000 - len(found), 20_000))


@pytest.mark.parametrize("kind", ["db_bench", "command", "of another version"])
def test_nothing_is_said_before_there_is_a_report_and_by_kinds_that_cannot_tell(tmp_path: Path, kind: str) -> None:
    assert current_throughput(kind, tmp_path) is None
