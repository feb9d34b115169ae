from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from stepgrid.workflow import next_round


@pytest.mark.parametrize(
    ("module", "program", "words", "possible"),
    [
        ("snakemake.__main__", "x", ["python", "-m", "snakemake"], True),
        ("stepgrid.cli.__main__", "x", ["python", "-m", "stepgrid.cli", "run", "a.yaml"], True),
        (None, "/opt/bin/snakemake", ["python", "/opt/bin/snakemake"], True),
        (None, "mine.py", ["python", "mine.py"], False),
        ("pytest.__main__", "x", ["python", "-m", "pytest"], False),
        (None, "snakemake", ["python", "snakemake", "--directory", "elsewhere"], False),
    ],
)
def test_only_a_command_of_ours_or_snakemakes_is_run_again(
    monkeypatch: pytest.MonkeyPatch, module: str | None, program: str, words: list[str], possible: bool
) -> None:
    """A program that uses either as a library would begin anew as a whole."""
    spec = None if module is None else SimpleNamespace(name=module)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "orig_argv", words)
    assert next_round.is_possible() is possible
