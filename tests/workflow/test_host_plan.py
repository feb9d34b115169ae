"""Names of specs, and warnings that are shown once for each spec and day."""

from datetime import date
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.store.store import Store
from stepgrid.workflow.host_plan import ALL_WARNINGS, warnings_once_a_day

TEXT = "a.yaml:1:1: warning[no-repeats]: 2 cells\n   1 | title\n\na.yaml:2:1: warning[step-short]: 1 s"
AGAIN = "a.yaml: 2 warnings, already shown today; --all-warnings shows them again"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(ALL_WARNINGS, raising=False)
    (tmp_path / "outputs").mkdir()
    return Store(Path("outputs"))


def test_another_day_shows_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tomorrow(date):
        @classmethod
        def today(cls) -> "Tomorrow":
            return cls(2999, 1, 1)

    warnings_once_a_day(store, "a.yaml", TEXT)
    monkeypatch.setattr("datetime.date", Tomorrow)
    assert warnings_once_a_day(store, "a.yaml", TEXT) == TEXT


def test_plan_and_its_option(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(
        "title: t\nbuilds: {p: {engine: program, source: {system: python3}}}\nsweep: {size: [1, 2]}\n"
        'steps: [{name: run, kind: command, argv: ["{program:python3}", "{{ params.size }}"]}]\n'
    )
    said = []
    for more in ([], [], ["--all-warnings"]):
        assert main(["plan", "a.yaml", *more]) == 0
        said.append(capsys.readouterr().err)
    assert said[0].startswith("a.yaml:1:1: warning[no-repeats]: ")
    assert said[1] == "a.yaml: 1 warning, already shown today; --all-warnings shows them again\n"
    assert said[2] == said[0]
    assert main(["check", "a.yaml"]) == 0
    assert capsys.readouterr().err == said[0]
