"""Commands that texts offer are taken by the command line."""

import re
import shlex
from collections.abc import Iterator

import pytest

from stepgrid import cli
from stepgrid.package import PACKAGE
from tests.cli.bundles import Capture
from tests.cli.worlds import kept

OFFERED = re.compile(r"`(stepgrid [a-z]+ [^`\n]+)`")


def offered() -> Iterator[str]:
    """With words that stand for what is filled in; `…` begins what a reader adds."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for command in OFFERED.findall(path.read_text(encoding="utf-8")):
            yield re.sub(r"\{[^{}]*\}", "x", command).replace(" …", "")


def parsed(command: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(cli, "_execute", lambda arguments, name: 0)
    try:
        return cli.main(shlex.split(command)[1:]) == 0
    except SystemExit:
        return False


@pytest.mark.parametrize("command", sorted(set(offered())))
def test_an_offered_command_is_one(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed(command, monkeypatch), command


@pytest.mark.usefixtures("folder")
def test_explain_without_a_cell_shows_all(capsys: Capture) -> None:
    kept()
    assert cli.main(["explain", "a.yaml"]) == 0
    whole = capsys.readouterr().out
    assert cli.main(["explain", "a.yaml", "build=rocksdb-9.10.0,threads=2"]) == 0
    assert capsys.readouterr().out.rstrip() in whole
