from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.drivers.db_bench.parser import report
from stepgrid.model.figures import ParseError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("secs_elapsed,interval_qps\n1,194192\n2,179217\n", [(1.0, 194192.0), (2.0, 179217.0)]),
        ("secs_elapsed,interval_qps\n1,194192\n2,1792", [(1.0, 194192.0)]),
        ("secs_elapsed,interval_qps\n1,194192\n2", [(1.0, 194192.0)]),
        ("interval_qps,new,secs_elapsed\n0,9,1\n", [(1.0, 0.0)]),
        ("secs_elapsed,interval_qps\n10,5000\n20,7000\n30,0\n", [(10.0, 500.0), (20.0, 700.0), (30.0, 0.0)]),
        ("secs_elapsed,interval_qps\n1,50\n2,60\n4,70\n5,80\n", [(1.0, 50.0), (2.0, 60.0), (4.0, 70.0), (5.0, 80.0)]),
        ("secs_elapsed,interval_qps\n", []),
        ("secs_ela", []),
        ("", []),
    ],
)
def test_rates(text: str, expected: list[tuple[float, float]], tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_text(text)
    assert report.read(tmp_path / "report.csv") == expected


def test_no_file_no_rates(tmp_path: Path) -> None:
    assert report.read(tmp_path / "report.csv") == []


def test_another_header(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text("secs_elapsed,ops\n1,2\n")
    with pytest.raises(ParseError) as caught:
        report.read(path)
    assert str(caught.value) == f"{path}: no column interval_qps in its first line, 'secs_elapsed,ops'"


@pytest.mark.parametrize("line", ["x,1", "1", ""])
def test_a_broken_line_in_the_middle(line: str, tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_text(f"secs_elapsed,interval_qps\n{line}\n2,2\n")
    with pytest.raises(ParseError) as caught:
        report.read(path)
    assert str(caught.value) == f"{path}:2: expected seconds and operations per second, found {line!r}"


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.csv").write_bytes(b"secs_elapsed,interval_qps\n1,5\n2,\xff\n")
    with pytest.raises(ParseError) as caught:
        report.read(tmp_path / "report.csv")
    where = f"{tmp_path / 'report.csv'}:3"
    assert str(caught.value) == f"{where}: expected seconds and operations per second, found '2,\ufffd'"
