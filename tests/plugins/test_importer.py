from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.plugins.importer import Faults, FolderError, ImportProblem


def test_a_fault_shows_its_place_and_line() -> None:
    assert str(ImportProblem(Path("a"), 3, "what", "the\tline\n")) == "a:3: what\n  | the line"
    assert str(ImportProblem(Path("a"), None, "what")) == "a: what"
    assert str(ImportProblem(Path("a"), 1, "what", "x" * 200)).endswith("x" * 99 + "…")


def test_all_are_told_once_and_in_order() -> None:
    faults = Faults()
    faults.stop()
    for path, line in (("b", 1), ("a", 10), ("a", 9), ("a", 10)):
        faults.add(Path(path), line, "wrong")
    with pytest.raises(FolderError) as caught:
        faults.stop()
    assert str(caught.value) == "a:9: wrong\na:10: wrong\nb:1: wrong"
