from __future__ import annotations

from pathlib import Path

from stepgrid.cli.watch import FIRST_BYTES, Tail


def test_whole_lines_and_what_comes_later(tmp_path: Path) -> None:
    path = tmp_path / "a"
    tail = Tail(path)
    assert tail.lines() == []
    path.write_text("one\ntw")
    assert tail.lines() == ["one"]
    with path.open("a") as file:
        file.write("o\nthree\n")
    assert tail.lines() == ["two", "three"]
    assert tail.lines() == []


def test_of_a_long_file_the_end_without_the_line_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("".join(f"{number:07}\n" for number in range(10_000)))
    found = Tail(path).lines()
    assert found[-1] == "0009999"
    assert len(found) == FIRST_BYTES // 8 - 1


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a long line\n")
    tail = Tail(path)
    tail.lines()
    path.write_text("new\n")
    assert tail.lines() == ["new"]
